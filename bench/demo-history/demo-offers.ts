import { compileCatalog } from '../../src/catalogs/compile-catalog.ts';
import { parseCatalogSource } from '../../src/catalogs/parse-catalog.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';

/** An offer of the example catalog of a vertical, for visitors of one credit band. */
export interface DemoOffer {
  readonly catalogVersion: string;
  readonly id: string;
  readonly lenderName: string;
  /** Expected revenue of a click, in micro-dollars. */
  readonly clickValueMicros: number;
  readonly flatPayoutMicros: number | null;
}

/** Number of offers that the visitors of one credit band can see. */
const offersPerBand = 12;
/** Visitors of the lowest credit bands get no offers in the demo, because few offers accept them. */
const lowestCreditBand = 2;

/**
 * Lists offers for the visitors of each credit band. Offers with a daily cap or a budget are left out, because their clicks would need the
 * decisions of a running service.
 */
export function listDemoOffers(vertical: Vertical): readonly (readonly DemoOffer[])[] {
  const source = builtInVerticals
    .listExampleCatalogs()
    .find((catalog) => catalog.vertical === vertical && catalog.mode === 'live')!;
  const product = builtInVerticals.withProduct(vertical);
  const parsed = parseCatalogSource(source, product, undefined);
  if (!parsed.ok) throw new Error(`the example catalog of ${vertical.segment} is invalid`);
  const catalog = compileCatalog(parsed.catalog, product, source);
  const { bandCount } = catalog.tables;
  const firstBand = bandCount > lowestCreditBand ? lowestCreditBand : 0;
  return Array.from({ length: bandCount - firstBand }, (_, at) =>
    catalog.offers
      .map(({ id, lenderName, flatPayoutMicros, dailyCap, budget }, index) => ({
        catalogVersion: catalog.version,
        id,
        lenderName,
        clickValueMicros: dailyCap === null && budget === null ? catalog.clickValueMicros(index, firstBand + at) : 0,
        flatPayoutMicros,
      }))
      .filter(({ clickValueMicros }) => clickValueMicros > 0)
      .slice(0, offersPerBand),
  );
}
