import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CatalogFile, CatalogOffer } from '../../src/catalogs/catalog-schema.ts';
import type { CatalogSource } from '../../src/catalogs/parse-catalog.ts';
import { formatIsoDate } from '../../src/domain/calendar.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import type { DemoLimit } from './demo-limits.ts';
import { compileDemoCatalog, listDemoOffers } from './demo-offers.ts';

/** Returns the folder of the catalogs in the data folder of the demo, for `SVC_CATALOG`. */
export function demoCatalogFolder(dataDir: string): string {
  return join(dataDir, 'demo-catalogs');
}

/** `current` is active since the start of the last day. It adds an offer to `earlier`, removes another one and raises a payout. */
type CatalogEdition = 'earlier' | 'current';

/** Factor of the payout that the current edition raises. */
const raisedPayout = 1.2;

/** Catalog file of a vertical: the example catalog with more limits, in two editions. */
export class DemoCatalog {
  readonly #vertical: Vertical;
  readonly #example: string;
  readonly #folder: string;
  /** Date of the figures of all offers. */
  readonly #asOf: string;
  readonly #versions = new Map<CatalogEdition, string>();
  /** Daily caps and budgets by offer ID, in addition to those of the example catalog. */
  readonly limits: ReadonlyMap<string, DemoLimit>;

  constructor(dataDir: string, vertical: Vertical, firstDay: number, limits: ReadonlyMap<string, DemoLimit>) {
    this.#asOf = formatIsoDate(firstDay);
    this.#vertical = vertical;
    this.#example = builtInVerticals.exampleCatalogFile(vertical);
    this.#folder = demoCatalogFolder(dataDir);
    this.limits = limits;
  }

  get sources(): readonly CatalogSource[] {
    return builtInVerticals.createCatalogSources(this.#vertical, this.#file);
  }

  get #file(): string {
    return join(this.#folder, `${this.#vertical.segment}.json`);
  }

  /** Writes an edition and its logos, and replaces another edition. */
  write(edition: CatalogEdition): void {
    const catalog = JSON.parse(readFileSync(this.#example, 'utf8')) as CatalogFile;
    const { absentId, raisedId } = chooseChanges(catalog, this.#vertical, edition);
    const change = (offer: CatalogOffer): CatalogOffer => {
      const payout_usd = offer.id === raisedId ? Math.ceil(offer.payout_usd * raisedPayout) : offer.payout_usd;
      const as_of = offer.as_of === undefined ? {} : { as_of: this.#asOf };
      return { ...offer, ...this.limits.get(offer.id), ...as_of, payout_usd };
    };
    const lenders = catalog.lenders.map((lender) => ({
      ...lender,
      logo: this.#copyLogo(lender.logo),
      offers: lender.offers.filter(({ id }) => id !== absentId).map(change),
    }));
    writeFileSync(this.#file, `${JSON.stringify({ ...catalog, lenders }, null, 2)}\n`);
    this.#versions.set(edition, compileDemoCatalog(this.#vertical, this.#file).version);
  }

  /** Returns the version of a written edition. */
  versionOf(edition: CatalogEdition): string {
    return this.#versions.get(edition)!;
  }

  /** Copies a logo to a name that no lender of another vertical has. Returns this name. */
  #copyLogo(name: string): string {
    const copy = `${this.#vertical.segment}-${name}`;
    mkdirSync(join(this.#folder, 'logos'), { recursive: true });
    copyFileSync(join(dirname(this.#example), 'logos', name), join(this.#folder, 'logos', copy));
    return copy;
  }
}

/** Chooses the differences between the editions. They affect no offer that visitors of the demo see, and no only offer of a lender. */
function chooseChanges({ lenders }: CatalogFile, vertical: Vertical, edition: CatalogEdition) {
  const shown = new Set(listDemoOffers(vertical).flatMap((band) => band.map(({ id }) => id)));
  const changeable = lenders.flatMap(({ offers }) => offers.slice(1).filter(({ id }) => !shown.has(id)));
  const [removed, raised, added] = changeable;
  if (added === undefined)
    throw new Error(`the example catalog of ${vertical.segment} has too few offers for the demo`);
  return edition === 'earlier'
    ? { absentId: added.id, raisedId: null }
    : { absentId: removed!.id, raisedId: raised!.id };
}
