import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CatalogSource } from '../../src/index.ts';
import type { LoanCatalog, LoanOffer } from '../../src/verticals/personal-loans/offer-schema.ts';
import { temporaryFolder } from './temporary-folder.ts';
import type { VerticalFixture } from './vertical-fixture.ts';

/** The catalogs of a fixture, with the live catalog in a file that a test can change. */
export class ChangeableCatalogs {
  readonly sources: readonly CatalogSource[];
  /** Initial content of the file. */
  readonly initialCatalog: LoanCatalog;
  readonly #folder = temporaryFolder();
  readonly #file = join(this.#folder, 'live.json');

  constructor({ vertical, catalogFiles }: VerticalFixture) {
    this.initialCatalog = catalogFiles.live;
    this.writeCatalog(this.initialCatalog);
    this.sources = [
      { vertical, mode: 'live', file: this.#file },
      { vertical, mode: 'test', text: JSON.stringify(catalogFiles.test) },
    ];
  }

  writeCatalog(catalog: LoanCatalog): void {
    writeFileSync(this.#file, JSON.stringify(catalog));
  }

  /** Writes a file to the logo folder of the live catalog. */
  writeLogo(file: string, content: string): void {
    mkdirSync(join(this.#folder, 'logos'), { recursive: true });
    writeFileSync(join(this.#folder, 'logos', file), content);
  }
}

/** Returns a catalog in which each offer is replaced by the returned offers, without the lenders that have no offer left. */
function mapOffers(catalog: LoanCatalog, change: (offer: LoanOffer) => LoanOffer[]): LoanCatalog {
  const lenders = catalog.lenders.map((lender) => ({ ...lender, offers: lender.offers.flatMap(change) }));
  return { ...catalog, lenders: lenders.filter(({ offers }) => offers.length > 0) };
}

/** Returns a catalog without the offers with these ids. */
export function withoutOffers(catalog: LoanCatalog, ids: readonly string[]): LoanCatalog {
  return mapOffers(catalog, (offer) => (ids.includes(offer.id) ? [] : [offer]));
}

/** Returns a catalog in which all offers, or those with the given ids, have this daily cap. */
export function withDailyCap(catalog: LoanCatalog, cap: number, ids?: readonly string[]): LoanCatalog {
  return mapOffers(catalog, (offer) => [ids?.includes(offer.id) === false ? offer : { ...offer, daily_cap: cap }]);
}

/** Returns a catalog in which each offer has the budget that `budgetOf` returns. */
export function withBudgets(catalog: LoanCatalog, budgetOf: (offer: LoanOffer) => LoanOffer['budget']): LoanCatalog {
  return mapOffers(catalog, (offer) => {
    const budget = budgetOf(offer);
    return [budget === undefined ? offer : { ...offer, budget }];
  });
}

/** Returns the catalogs of these verticals with the same daily cap for every offer. */
export function cappedCatalogs(fixtures: readonly VerticalFixture[], cap: number): CatalogSource[] {
  return fixtures.flatMap(({ vertical, catalogFiles }) =>
    (['live', 'test'] as const).map((mode) => ({
      vertical,
      mode,
      text: JSON.stringify(withDailyCap(catalogFiles[mode], cap)),
    })),
  );
}

/** Returns a catalog with `times` copies of every offer under new ids, large enough for the matching threads. */
export function enlargedCatalog(catalog: LoanCatalog, times: number): LoanCatalog {
  return mapOffers(catalog, (offer) => [
    offer,
    ...Array.from({ length: times - 1 }, (_, copy) => ({ ...offer, id: `${offer.id}-copy-${copy + 1}` })),
  ]);
}
