import type { CatalogSource, Mode } from '../../src/index.ts';
import type { LoanCatalog } from '../../src/verticals/personal-loans/offer-schema.ts';
import type { VerticalFixture } from './vertical-fixture.ts';

/** Returns a catalog in which all offers, or those with the given ids, have this daily cap; null for no cap. */
export function withDailyCap(catalog: LoanCatalog, cap: number | null, ids?: readonly string[]): LoanCatalog {
  return {
    ...catalog,
    lenders: catalog.lenders.map((lender) => ({
      ...lender,
      offers: lender.offers.map((offer) => {
        if (ids !== undefined && !ids.includes(offer.id)) return offer;
        const { daily_cap: _, ...uncapped } = offer;
        return cap === null ? uncapped : { ...uncapped, daily_cap: cap };
      }),
    })),
  };
}

/** Returns the catalogs of these verticals with the same daily cap for every offer. */
export function cappedCatalogs(fixtures: readonly VerticalFixture[], cap: number): CatalogSource[] {
  return fixtures.flatMap(({ vertical, catalogFiles }) =>
    (['live', 'test'] as const).map((mode: Mode) => ({
      vertical,
      mode,
      text: JSON.stringify(withDailyCap(catalogFiles[mode], cap)),
    })),
  );
}
