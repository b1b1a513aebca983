import type { LoanCatalog } from '../../src/verticals/personal-loans/offer-schema.ts';

/** Returns a catalog with `times` copies of every offer under new ids, large enough for the matching threads. */
export function enlargedCatalog(catalog: LoanCatalog, times: number): LoanCatalog {
  return {
    ...catalog,
    lenders: catalog.lenders.map((lender) => ({
      ...lender,
      offers: lender.offers.flatMap((offer) => [
        offer,
        ...Array.from({ length: times - 1 }, (_, copy) => ({ ...offer, id: `${offer.id}-copy-${copy + 1}` })),
      ]),
    })),
  };
}
