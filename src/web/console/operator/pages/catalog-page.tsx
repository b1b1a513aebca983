import { useId } from 'preact/hooks';
import { apiPath } from '../../common/api-client.ts';
import { createCursorPaging } from '../../common/cursor-paging.ts';
import { type Column, DataTable } from '../../common/data-table.tsx';
import { formatCount, formatUsd, formatUtcDay } from '../../common/format.ts';
import { tableRowsPerPage } from '../../common/limits.ts';
import { formatRoute, type Route } from '../../common/route.ts';
import { changeQuery } from '../../common/router.ts';
import { PageHeading } from '../../common/shell.tsx';
import { Empty, WhenLoaded } from '../../common/states.tsx';
import { useApi } from '../../common/use-api.ts';
import type { BudgetPeriod, CatalogOffer, CatalogOffersPage } from '../api-types.ts';
import { Meter } from '../parts/meter.tsx';
import { offerColumns } from '../parts/offer-columns.tsx';
import { OfferStateWords, offerStateWords } from '../parts/offer-state-word.tsx';
import { SpendCurve } from './spend-curve.tsx';

function createColumns(route: Route): readonly Column<CatalogOffer>[] {
  const { segments, query } = route;
  return [
    ...offerColumns,
    {
      header: 'State now',
      csvName: 'state',
      cell: ({ reasons }) => <OfferStateWords states={reasons.length === 0 ? ['shown'] : reasons} />,
      value: ({ state }) => state,
    },
    {
      header: 'Daily cap',
      note: 'clicks of the UTC day',
      csvName: 'daily_cap_used',
      isNumber: true,
      cell: ({ daily_cap }) =>
        daily_cap === null ? 'none' : `${formatCount(daily_cap.used)} of ${formatCount(daily_cap.limit)}`,
      value: ({ daily_cap }) => daily_cap?.used,
    },
    {
      header: 'Budget',
      note: 'booked in the UTC day or month',
      csvName: 'budget_spent_today_usd',
      cell: ({ svc_offer_id, budget }) =>
        budget === null ? (
          'none'
        ) : (
          <>
            <BudgetUse name="day" period={budget.day} />
            <BudgetUse name="month" period={budget.month} />
            <a href={formatRoute(segments, { ...query, offer: svc_offer_id })}>
              Spend curve<span class="visually-hidden"> of {svc_offer_id}</span>
            </a>
          </>
        ),
      value: ({ budget }) => budget?.spent_today_usd,
    },
    createTotalColumn('Shown', 'shown', formatCount),
    createTotalColumn('Clicks', 'offer_clicks', formatCount),
    createTotalColumn('Attributed', 'rev_attributed', formatUsd),
    createTotalColumn('Confirmed', 'rev_confirmed', formatUsd),
  ];
}

function createTotalColumn(
  header: string,
  name: keyof NonNullable<CatalogOffer['last_30_days']>,
  format: (value: number | null | undefined) => string,
): Column<CatalogOffer> {
  return {
    header,
    note: '30 days',
    csvName: name,
    isNumber: true,
    cell: ({ last_30_days }) => format(last_30_days?.[name]),
    value: ({ last_30_days }) => last_30_days?.[name],
  };
}

function BudgetUse({ name, period }: { readonly name: string; readonly period: BudgetPeriod | null }) {
  if (period === null) return null;
  const { spent_usd, limit_usd } = period;
  return (
    <span class="budget-use">
      <span>
        {formatUsd(spent_usd)} of {formatUsd(limit_usd)} a {name}
      </span>
      {spent_usd !== null && <Meter used={spent_usd} limit={limit_usd} />}
    </span>
  );
}

/** Page with the offers of a catalog. */
export function CatalogPage({
  vertical,
  mode,
  route,
}: {
  readonly vertical: string;
  readonly mode: string;
  readonly route: Route;
}) {
  const { state, cursor, offer } = route.query;
  const path = apiPath(['catalogs', vertical, mode, 'offers'], { limit: tableRowsPerPage, state, cursor });
  const loaded = useApi<CatalogOffersPage>(path, ['data', 'version', 'from', 'to']);
  const title = `${vertical}, ${mode}`;
  return (
    <>
      <PageHeading
        title={`Catalog ${title}`}
        lead={
          <>
            <a href={formatRoute(['catalogs'])}>All catalogs</a> ·{' '}
            <a href={formatRoute(['catalogs', vertical, mode, 'changes'])}>Changes since the version before</a>
          </>
        }
      />
      <StateFilter state={state ?? ''} />
      <WhenLoaded loaded={loaded} what="offers">
        {({ data, next_cursor, from, to }) => (
          <>
            <SelectedOffer offer={data.find(({ svc_offer_id }) => svc_offer_id === offer)} />
            <section class="card section">
              <DataTable
                caption="Offers"
                isCaptionHidden
                columns={createColumns(route)}
                rows={data}
                rowKey={({ svc_offer_id }) => svc_offer_id}
                csvName={`offers-${vertical}-${mode}`}
                paging={createCursorPaging(route, next_cursor)}
                foot={
                  <p class="soft">
                    Figures of sessions that were created from {formatUtcDay(from)} to {formatUtcDay(to)}, of all
                    accounts.
                    {mode === 'test' && ' Clicks of test sessions earn nothing.'}
                  </p>
                }
                empty={
                  <Empty title={state === undefined ? 'The catalog has no offers' : 'No offer has this state now'} />
                }
              />
            </section>
          </>
        )}
      </WhenLoaded>
    </>
  );
}

function SelectedOffer({ offer }: { readonly offer: CatalogOffer | undefined }) {
  if (offer === undefined || offer.budget === null) return null;
  return <SpendCurve name={`${offer.svc_offer_id} of ${offer.lender_name}`} budget={offer.budget} />;
}

function StateFilter({ state }: { readonly state: string }) {
  const id = useId();
  return (
    <div class="toolbar">
      <div class="inline-form">
        <div class="field">
          <label for={id}>State</label>
          <select
            id={id}
            value={state}
            onChange={({ currentTarget }) =>
              changeQuery({ state: currentTarget.value || null, cursor: null, page: null, offer: null })
            }
          >
            <option value="">all offers</option>
            {Object.entries(offerStateWords).map(([each, { text }]) => (
              <option key={each} value={each}>
                {text}
              </option>
            ))}
          </select>
        </div>
      </div>
    </div>
  );
}
