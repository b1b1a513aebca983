import type { LoanCatalog } from '../../src/verticals/personal-loans/offer-schema.ts';

/** A catalog with every offer so many times, each copy under an id of its own: large enough for the matching workers. */
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
