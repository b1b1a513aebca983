import type { Column } from '../../common/data-table.tsx';

interface NamedOffer {
  readonly svc_offer_id: string;
  readonly lender_name: string;
}

/** Columns that name an offer and its lender. The table shows both in one cell, and CSV has a column for each. */
export const offerColumns: readonly Column<NamedOffer>[] = [
  {
    header: 'Offer',
    csvName: 'svc_offer_id',
    cell: ({ svc_offer_id, lender_name }) => (
      <>
        {svc_offer_id}
        <span class="note">{lender_name}</span>
      </>
    ),
    value: ({ svc_offer_id }) => svc_offer_id,
  },
  { header: 'Lender', csvName: 'lender_name', isHidden: true, cell: () => null, value: (offer) => offer.lender_name },
];
