import { useState } from 'preact/hooks';
import type { AnalyticsSummary, SessionRowsResponse, TagsResponse } from '../../common/api-types.ts';
import { createCursorPaging } from '../../common/cursor-paging.ts';
import { type Column, DataTable } from '../../common/data-table.tsx';
import { formatCount, formatTime, formatUsd, formatUtcDay } from '../../common/format.ts';
import { tableRowsPerPage } from '../../common/limits.ts';
import { type PartnerLogin, useLogin } from '../../common/login.ts';
import { formatRoute, type Route } from '../../common/route.ts';
import { PageHeading } from '../../common/shell.tsx';
import { Empty, WhenLoaded } from '../../common/states.tsx';
import { useApi } from '../../common/use-api.ts';
import { parseSessionFilter, type SessionFilter, toAnalyticsQuery } from '../day-filter.ts';
import { partnerPath } from '../partner-path.ts';
import { SessionFilterForm, useTags, withDefaultTag } from '../session-filter.tsx';
import { isSubId, shortenSubId } from '../sub-id.ts';

type Session = SessionRowsResponse['data'][number];

/** Page with the sessions of a tag. */
export function SessionsPage({ route }: { readonly route: Route }) {
  const login = useLogin<PartnerLogin>();
  const tags = useTags();
  const filter = withDefaultTag(parseSessionFilter(route.query, login.now, 7), tags.value);
  return (
    <>
      <PageHeading title="Sessions" lead="Each page load of a visitor, with its views, clicks and revenue." />
      <FindSession />
      <WhenLoaded loaded={tags} what="tags">
        {(list) =>
          filter.tag === '' ? (
            <Empty title="No sessions yet">
              <p>A session appears here when your web server has created it.</p>
            </Empty>
          ) : (
            <FilteredSessions route={route} filter={filter} tags={list} />
          )
        }
      </WhenLoaded>
    </>
  );
}

/** Opens the session with an id. */
function FindSession() {
  const [id, setId] = useState('');
  const [isInvalid, setInvalid] = useState(false);
  const onSubmit = (event: Event) => {
    event.preventDefault();
    const subId = id.trim();
    if (isSubId(subId)) location.hash = formatRoute(['sessions', subId]);
    else setInvalid(true);
  };
  return (
    <form class="filters" onSubmit={onSubmit}>
      <label class="wide">
        Find a session by its id
        <input
          type="text"
          value={id}
          placeholder="sub_…"
          autocomplete="off"
          spellcheck={false}
          aria-invalid={isInvalid}
          aria-describedby={isInvalid ? 'find-session-error' : undefined}
          onInput={({ currentTarget }) => {
            setId(currentTarget.value);
            setInvalid(false);
          }}
        />
      </label>
      <button type="submit" class="quiet">
        Find
      </button>
      {isInvalid && (
        <p id="find-session-error" class="field-error" role="alert">
          A session id is sub_ followed by 64 hexadecimal digits.
        </p>
      )}
    </form>
  );
}

const sessionColumns: readonly Column<Session>[] = [
  {
    header: 'Created (UTC)',
    csvName: 'created_at',
    cell: ({ sub_id, created_at }) => <a href={formatRoute(['sessions', sub_id])}>{formatTime(created_at)}</a>,
    value: ({ created_at }) => created_at,
  },
  {
    header: 'Id',
    csvName: 'sub_id',
    cell: ({ sub_id }) => <code title={sub_id}>{shortenSubId(sub_id)}</code>,
    value: ({ sub_id }) => sub_id,
  },
  { header: 'Device', csvName: 'device', cell: ({ device }) => device, value: ({ device }) => device },
  {
    header: 'Views',
    csvName: 'marketplace_views',
    isNumber: true,
    cell: (session) => formatCount(session.marketplace_views),
    value: (session) => session.marketplace_views,
  },
  {
    header: 'Clicks',
    csvName: 'offer_clicks',
    isNumber: true,
    cell: (session) => formatCount(session.offer_clicks),
    value: (session) => session.offer_clicks,
  },
  {
    header: 'Expected',
    csvName: 'rev_attributed',
    isNumber: true,
    cell: (session) => formatUsd(session.rev_attributed),
    value: (session) => session.rev_attributed,
  },
  {
    header: 'Confirmed',
    csvName: 'rev_confirmed',
    isNumber: true,
    cell: (session) => formatUsd(session.rev_confirmed),
    value: (session) => session.rev_confirmed,
  },
  {
    header: 'Clicked lenders',
    csvName: 'lenders',
    cell: ({ lenders }) => lenders.map(({ lender }) => lender).join(', '),
    value: ({ lenders }) => lenders.map(({ lender }) => lender).join(', '),
  },
];

interface FilteredProps {
  readonly route: Route;
  readonly filter: SessionFilter;
  readonly tags: TagsResponse;
}

function FilteredSessions({ route, filter, tags }: FilteredProps) {
  const login = useLogin<PartnerLogin>();
  const query = toAnalyticsQuery(filter);
  const summary = useApi<AnalyticsSummary>(partnerPath(login, ['analytics'], query), ['sessions_total']);
  const page = { granularity: 'row', order: 'newest', limit: tableRowsPerPage, cursor: route.query.cursor };
  const rows = useApi<SessionRowsResponse>(partnerPath(login, ['analytics'], { ...query, ...page }), ['data']);
  return (
    <>
      <SessionFilterForm filter={filter} tags={tags} />
      <section class="card section">
        <h2>Sessions of {filter.tag}</h2>
        {summary.value !== null && <Totals figures={summary.value} />}
        <WhenLoaded loaded={rows} what="sessions">
          {({ data, next_cursor: nextCursor, sessions_kept_from: keptFrom }) => (
            <>
              {keptFrom !== null && (
                <p class="soft">
                  Sessions before {formatUtcDay(keptFrom)} were deleted. The totals still contain them.
                </p>
              )}
              <DataTable
                caption={`Sessions of ${filter.tag}, the newest first`}
                isCaptionHidden
                columns={sessionColumns}
                rows={data}
                rowKey={({ sub_id }) => sub_id}
                csvName={`sessions-${filter.tag}`}
                paging={createCursorPaging(route, nextCursor)}
                empty={
                  <Empty title="No sessions in these days">
                    <p>Choose more days or another page.</p>
                  </Empty>
                }
              />
            </>
          )}
        </WhenLoaded>
      </section>
    </>
  );
}

function Totals({ figures }: { readonly figures: AnalyticsSummary }) {
  const entries = [
    ['Sessions', formatCount(figures.sessions_total)],
    ['Sessions of declared bots', formatCount(figures.bot_sessions)],
    ['Views', formatCount(figures.marketplace_views)],
    ['Clicks', formatCount(figures.offer_clicks)],
    ['Expected', formatUsd(figures.rev_attributed)],
    ['Confirmed', formatUsd(figures.rev_confirmed)],
  ] as const;
  return (
    <>
      <p class="soft">
        {formatUtcDay(figures.date_from)} to {formatUtcDay(figures.date_to)}, the newest session first.
      </p>
      <dl class="figures">
        {entries.map(([label, text]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
