import type { AnalyticsSummary, OfferAnalytics, TagsResponse } from '../../common/api-types.ts';
import { type Column, DataTable } from '../../common/data-table.tsx';
import { formatCount, formatShare, formatUsdPerUnit } from '../../common/format.ts';
import { offersPerPage } from '../../common/limits.ts';
import { type PartnerLogin, useLogin } from '../../common/login.ts';
import type { Route } from '../../common/route.ts';
import { PageHeading } from '../../common/shell.tsx';
import { Empty, Notice, WhenLoaded } from '../../common/states.tsx';
import { useApi } from '../../common/use-api.ts';
import { parseSessionFilter, type SessionFilter, toAnalyticsQuery } from '../day-filter.ts';
import { partnerPath } from '../partner-path.ts';
import { Lenders } from '../parts/lenders.tsx';
import { Offers } from '../parts/offers.tsx';
import { SessionFilterForm, useTags, withDefaultTag } from '../session-filter.tsx';

/** Page with the offers that the visitors of a page saw, and the revenue of these offers. */
export function OffersPage({ route }: { readonly route: Route }) {
  const login = useLogin<PartnerLogin>();
  const tags = useTags();
  const filter = withDefaultTag(parseSessionFilter(route.query, login.now, 90), tags.value);
  return (
    <>
      <PageHeading title="Offers" lead="Offers that the visitors of a page saw, and what these offers earned." />
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
    <section class="card section wide">
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
  const hasLostClicks = notBookedReasons.some(([reason]) => counts[reason] > 0);
  return (
    <section class="card section">
      <h2>Clicks that earned nothing</h2>
      {!hasLostClicks && <p>No click of these days was lost to a cap, a budget or a click rule.</p>}
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
