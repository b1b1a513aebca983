import { type CompiledCatalog, compileCatalog } from '../../src/catalogs/compile-catalog.ts';
import { parseCatalogSource } from '../../src/catalogs/parse-catalog.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';

/** An offer of the example catalog of a vertical, for visitors of one credit band. */
export interface DemoOffer {
  readonly id: string;
  readonly lenderName: string;
  /** Expected revenue of a click, in micro-dollars. */
  readonly clickValueMicros: number;
  /** Expected revenue of a click of the credit band with the largest one, in micro-dollars. */
  readonly largestClickMicros: number;
  readonly flatPayoutMicros: number | null;
}

/** Number of offers that the visitors of one credit band can see. */
const offersPerBand = 12;
/** Visitors of the lowest credit bands get no offers in the demo, because few offers accept them. */
const lowestCreditBand = 2;

/** Returns the compiled catalog of a file. Throws an error if the file is invalid. */
export function compileDemoCatalog(vertical: Vertical, file: string): CompiledCatalog {
  const source = { vertical, mode: 'live', file } as const;
  const product = builtInVerticals.withProduct(vertical);
  const parsed = parseCatalogSource(source, product, undefined);
  if (!parsed.ok) throw new Error(`the catalog ${file} is invalid: ${JSON.stringify(parsed.errors)}`);
  return compileCatalog(parsed.catalog, product, source);
}

/** Lists offers for the visitors of each credit band. Offers to which the example catalog gives a daily cap or a budget are left out. */
export function listDemoOffers(vertical: Vertical): readonly (readonly DemoOffer[])[] {
  const catalog = compileDemoCatalog(vertical, builtInVerticals.exampleCatalogFile(vertical));
  const { bandCount } = catalog.tables;
  const bands = Array.from({ length: bandCount }, (_, band) => band);
  return bands.slice(bandCount > lowestCreditBand ? lowestCreditBand : 0).map((band) =>
    catalog.offers
      .map(({ id, lenderName, flatPayoutMicros, dailyCap, budget }, index) => ({
        id,
        lenderName,
        clickValueMicros: dailyCap === null && budget === null ? catalog.clickValueMicros(index, band) : 0,
        largestClickMicros: Math.max(...bands.map((each) => catalog.clickValueMicros(index, each))),
        flatPayoutMicros,
      }))
      .filter(({ clickValueMicros }) => clickValueMicros > 0)
      .slice(0, offersPerBand),
  );
}
