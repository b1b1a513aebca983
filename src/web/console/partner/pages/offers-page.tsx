import type { AnalyticsSummary, OfferAnalytics, TagsResponse } from '../../common/api-types.ts';
import { createCursorPaging } from '../../common/cursor-paging.ts';
import { type Column, DataTable } from '../../common/data-table.tsx';
import {
  formatCount,
  formatDecimal,
  formatShare,
  formatUsd,
  formatUsdPerUnit,
  formatUtcDay,
} from '../../common/format.ts';
import { offersPerPage } from '../../common/limits.ts';
import { type PartnerLogin, useLogin } from '../../common/login.ts';
import type { Route } from '../../common/route.ts';
import { changeQuery } from '../../common/router.ts';
import { PageHeading } from '../../common/shell.tsx';
import { Empty, Notice, WhenLoaded } from '../../common/states.tsx';
import { useApi } from '../../common/use-api.ts';
import { parseSessionFilter, type SessionFilter, toAnalyticsQuery } from '../day-filter.ts';
import { partnerPath } from '../partner-path.ts';
import { SessionFilterForm, useTags, withDefaultTag } from '../session-filter.tsx';
import {
  findBestLender,
  lenderClicksMin,
  offerOrders,
  parseOfferOrder,
  sortLenders,
  sortOffers,
} from '../sort-offers.ts';

type Offer = OfferAnalytics['data'][number];
type Lender = AnalyticsSummary['top_lenders'][number];

/** Page with what was shown to the visitors of a page, and what it earned. */
export function OffersPage({ route }: { readonly route: Route }) {
  const login = useLogin<PartnerLogin>();
  const tags = useTags();
  const filter = withDefaultTag(parseSessionFilter(route.query, login.now, 90), tags.value);
  return (
    <>
      <PageHeading title="Offers" lead="What was shown to the visitors of a page, and what it earned.">
        Offers
      </PageHeading>
      <WhenLoaded loaded={tags} what="tags">
        {(list) => <FilteredOffers route={route} filter={filter} tags={list} />}
      </WhenLoaded>
    </>
  );
}

interface FilteredProps {
  readonly route: Route;
  readonly filter: SessionFilter;
  readonly tags: TagsResponse;
}

function FilteredOffers({ route, filter, tags }: FilteredProps) {
  const login = useLogin<PartnerLogin>();
  const query = toAnalyticsQuery(filter);
  const summary = useApi<AnalyticsSummary>(filter.tag === '' ? null : partnerPath(login, ['analytics'], query), [
    'top_lenders',
    'by_device',
    'clicks_not_booked',
    'matured',
  ]);
  const page = { granularity: 'offer', limit: offersPerPage, cursor: route.query.cursor };
  const offers = useApi<OfferAnalytics>(
    filter.tag === '' ? null : partnerPath(login, ['analytics'], { ...query, ...page }),
    ['data', 'has_more'],
  );
  if (filter.tag === '') {
    return (
      <Empty title="No sessions yet">
        <p>Create a session with a referrer tag. Its offers appear here when a visitor has seen them.</p>
      </Empty>
    );
  }
  return (
    <>
      <SessionFilterForm filter={filter} tags={tags} />
      <WhenLoaded loaded={summary} what="lenders">
        {(figures) => <Lenders figures={figures} />}
      </WhenLoaded>
      <WhenLoaded loaded={offers} what="offers">
        {(answer) => <Offers answer={answer} route={route} />}
      </WhenLoaded>
      {summary.value !== null && (
        <div class="columns">
          <Devices figures={summary.value} />
          <ClicksNotBooked figures={summary.value} />
        </div>
      )}
    </>
  );
}

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

function Lenders({ figures }: { readonly figures: AnalyticsSummary }) {
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

const offerColumns: readonly Column<Offer>[] = [
  {
    header: 'Offer',
    csvName: 'svc_offer_id',
    cell: ({ lender_name, svc_offer_id }) => (
      <>
        {lender_name ?? 'Unknown lender'}
        <span class="note">{svc_offer_id}</span>
      </>
    ),
    value: ({ svc_offer_id }) => svc_offer_id,
  },
  ...countColumns([
    ['Shown', 'shown', formatCount],
    ['Average position', 'average_position', formatDecimal],
    ['Clicks', 'offer_clicks', formatCount],
    ['Click rate', 'click_rate', formatShare],
  ]),
  ...countColumns([
    ['Confirmed per click', 'rev_confirmed_per_click', formatUsdPerUnit],
    ['Expected per click', 'rev_attributed_per_click', formatUsdPerUnit],
    ['Confirmed per time shown', 'rev_confirmed_per_shown', formatUsdPerUnit],
    ['Expected per time shown', 'rev_attributed_per_shown', formatUsdPerUnit],
    ['Confirmed revenue', 'rev_confirmed', formatUsd],
  ]),
];

type NumberMember = { [Name in keyof Offer]: Offer[Name] extends number | null ? Name : never }[keyof Offer];

function countColumns(
  columns: readonly (readonly [header: string, member: NumberMember, format: (value: number | null) => string])[],
): Column<Offer>[] {
  return columns.map(([header, member, format]) => ({
    header,
    csvName: member,
    isNumber: true,
    cell: (offer) => format(offer[member]),
    value: (offer) => offer[member],
  }));
}

function Offers({ answer, route }: { readonly answer: OfferAnalytics; readonly route: Route }) {
  const { data, has_more: hasMore, next_cursor: nextCursor, offers_counted_from: countedFrom } = answer;
  const isOnePage = !hasMore && route.query.cursor === undefined;
  const order = parseOfferOrder(route.query.sort);
  const rows = isOnePage ? sortOffers(data, order) : data;
  return (
    <section class="card section offers">
      <div class="heading-row">
        <h2>Offers</h2>
        {isOnePage && data.length > 1 && (
          <label class="inline">
            Sort by
            <select value={order} onChange={({ currentTarget }) => changeQuery({ sort: currentTarget.value })}>
              {Object.entries(offerOrders).map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      <p class="soft">
        Expected revenue is estimated at the click. Confirmed revenue is what lenders have reported.
        {!isOnePage && ` The offers are in the alphabetical order of their ids, ${offersPerPage} on a page.`}
        {countedFrom !== null && ` Offers are counted from ${formatUtcDay(countedFrom)} on.`}
      </p>
      <DataTable
        caption="Offers that were shown"
        isCaptionHidden
        columns={offerColumns}
        rows={rows}
        rowKey={({ svc_offer_id }) => svc_offer_id}
        csvName="offers"
        {...(isOnePage ? {} : { paging: createCursorPaging(route, nextCursor) })}
        empty={
          <Empty title="No offers in these days">
            <p>No visitor of this page has seen offers. Choose more days or another page.</p>
          </Empty>
        }
      />
      {rows.length > 0 && <Positions offers={rows} route={route} />}
    </section>
  );
}

interface Position {
  readonly position: number;
  readonly shown: number;
}

/** How often one offer was shown at each position of the list. */
function Positions({ offers, route }: { readonly offers: readonly Offer[]; readonly route: Route }) {
  const chosen = offers.find(({ svc_offer_id }) => svc_offer_id === route.query.offer) ?? offers[0]!;
  const positions = chosen.shown_by_position
    .map((shown, index): Position => ({ position: index + 1, shown }))
    .filter(({ shown }) => shown > 0);
  const lastPosition = chosen.shown_by_position.length;
  return (
    <details class="part" open={route.query.offer !== undefined}>
      <summary>Positions of an offer</summary>
      <div class="section">
        <label class="inline">
          Offer
          <select
            value={chosen.svc_offer_id}
            onChange={({ currentTarget }) => changeQuery({ offer: currentTarget.value })}
          >
            {offers.map(({ svc_offer_id: id, lender_name }) => (
              <option key={id} value={id}>
                {lender_name ?? 'Unknown lender'}: {id}
              </option>
            ))}
          </select>
        </label>
        <DataTable
          caption={`Positions at which ${chosen.svc_offer_id} was shown`}
          columns={[
            {
              header: 'Position',
              csvName: 'position',
              cell: ({ position }) => (position === lastPosition ? `${position} and later` : String(position)),
              value: ({ position }) => position,
            },
            {
              header: 'Shown',
              csvName: 'shown',
              isNumber: true,
              cell: ({ shown }) => formatCount(shown),
              value: ({ shown }) => shown,
            },
          ]}
          rows={positions}
          rowKey={({ position }) => String(position)}
          csvName={`positions-${chosen.svc_offer_id}`}
        />
      </div>
    </details>
  );
}

type DeviceFigures = NonNullable<AnalyticsSummary['by_device'][keyof AnalyticsSummary['by_device']]>;
type Device = DeviceFigures & { readonly device: string };

const deviceColumns: readonly Column<Device>[] = [
  { header: 'Device', csvName: 'device', cell: ({ device }) => device, value: ({ device }) => device },
  ...(
    [
      ['Sessions', 'sessions_total', formatCount],
      ['Clicks', 'offer_clicks', formatCount],
      ['Click rate', 'click_rate', formatShare],
      ['Confirmed per session', 'rev_per_session', formatUsdPerUnit],
    ] as const
  ).map(
    ([header, member, format]): Column<Device> => ({
      header,
      csvName: member,
      isNumber: true,
      cell: (device) => format(device[member]),
      value: (device) => device[member],
    }),
  ),
];

function Devices({ figures: { by_device: devices } }: { readonly figures: AnalyticsSummary }) {
  const rows = Object.entries(devices)
    .map(([device, figures]): Device => ({ device, ...figures }))
    .sort((one, other) => other.sessions_total - one.sessions_total);
  return (
    <section class="card section">
      <h2>Devices</h2>
      <p class="soft">For ideas, not for decisions: with several groups, some differ by chance.</p>
      <DataTable
        caption="Figures by device"
        isCaptionHidden
        columns={deviceColumns}
        rows={rows}
        rowKey={({ device }) => device}
        csvName="devices"
        empty={<Empty title="No sessions in these days" />}
      />
    </section>
  );
}

const notBookedReasons: readonly (readonly [
  reason: keyof AnalyticsSummary['clicks_not_booked'],
  label: string,
  explanation: string,
])[] = [
  ['cap', 'Daily cap', 'The offer had all the clicks that its lender pays for on a day.'],
  ['budget', 'Budget', 'The budget of the offer was used up.'],
  ['too_fast', 'Too fast', 'The click came less than half a second after the offer was shown.'],
  ['too_many_offers', 'Too many offers', 'The visitor had already clicked 10 offers.'],
];

function ClicksNotBooked({ figures: { clicks_not_booked: counts } }: { readonly figures: AnalyticsSummary }) {
  const total = notBookedReasons.some(([reason]) => counts[reason] > 0);
  return (
    <section class="card section">
      <h2>Clicks that earned nothing</h2>
      {!total && <p>No click of these days was lost to a cap, a budget or a click rule.</p>}
      <dl class="reasons">
        {notBookedReasons.map(([reason, label, explanation]) => (
          <div key={reason}>
            <dt>
              {label}
              <span class="note">{explanation}</span>
            </dt>
            <dd>{formatCount(counts[reason])}</dd>
          </div>
        ))}
      </dl>
      {(counts.cap > 0 || counts.budget > 0) && (
        <Notice kind="warn">
          <p>Ask your operator for larger caps or budgets, or for more offers.</p>
        </Notice>
      )}
    </section>
  );
}
