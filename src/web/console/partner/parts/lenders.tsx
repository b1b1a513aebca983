import type { AnalyticsSummary } from '../../common/api-types.ts';
import { type Column, DataTable } from '../../common/data-table.tsx';
import { formatCount, formatUsd, formatUsdPerUnit, formatUtcDay } from '../../common/format.ts';
import { Empty } from '../../common/states.tsx';
import { findBestLender, lenderClicksMin, sortLenders } from '../sort-offers.ts';

type Lender = AnalyticsSummary['top_lenders'][number];

const lenderColumns: readonly Column<Lender>[] = [
  {
    header: 'Lender',
    csvName: 'lender',
    cell: ({ lender, clicks }) => (
      <>
        {lender}
        {clicks < lenderClicksMin && <span class="note">too few clicks to compare</span>}
      </>
    ),
    value: ({ lender }) => lender,
  },
  {
    header: 'Confirmed per click',
    csvName: 'rev_confirmed_per_click',
    isNumber: true,
    cell: (lender) => formatUsdPerUnit(lender.rev_confirmed_per_click),
    value: (lender) => lender.rev_confirmed_per_click,
  },
  {
    header: 'Clicks',
    csvName: 'clicks',
    isNumber: true,
    cell: ({ clicks }) => formatCount(clicks),
    value: ({ clicks }) => clicks,
  },
  {
    header: 'Confirmed revenue',
    csvName: 'rev_confirmed',
    isNumber: true,
    cell: (lender) => formatUsd(lender.rev_confirmed),
    value: (lender) => lender.rev_confirmed,
  },
];

/** Lenders by confirmed revenue per click, and a sentence about the lender that pays most. */
export function Lenders({ figures }: { readonly figures: AnalyticsSummary }) {
  const { top_lenders: lenders, date_from: from, date_to: to, matured } = figures;
  const best = findBestLender(lenders);
  return (
    <section class="card section">
      <h2>Lenders</h2>
      <p class="answer">
        {best === null ? (
          <>No lender has confirmed revenue from at least {lenderClicksMin} clicks in these days.</>
        ) : (
          <>
            <strong>{best.lender}</strong> pays most per click:{' '}
            <strong>{formatUsdPerUnit(best.rev_confirmed_per_click)}</strong> confirmed per click, from{' '}
            {formatCount(best.clicks)} clicks.
          </>
        )}
      </p>
      <p class="soft">
        Sessions from {formatUtcDay(from)} to {formatUtcDay(to)}. Lenders with fewer than {lenderClicksMin} clicks come
        last, because chance decides their revenue per click.{' '}
        {matured.to === null || matured.to < to
          ? 'Lenders confirm payouts up to 45 days after a session, so the revenue of recent sessions is not complete.'
          : 'The revenue of these sessions is complete.'}
      </p>
      <DataTable
        caption="Lenders by confirmed revenue per click"
        isCaptionHidden
        columns={lenderColumns}
        rows={sortLenders(lenders)}
        rowKey={({ lender }) => lender}
        csvName="lenders"
        empty={
          <Empty title="No clicks in these days">
            <p>Choose more days or another page.</p>
          </Empty>
        }
      />
    </section>
  );
}
