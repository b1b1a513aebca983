import type { TagFigures, TagsResponse } from '../../common/api-types.ts';
import { createCursorPaging } from '../../common/cursor-paging.ts';
import { type Column, DataTable } from '../../common/data-table.tsx';
import { formatCount, formatShare, formatTime, formatUsd, formatUtcDay } from '../../common/format.ts';
import { tableRowsPerPage } from '../../common/limits.ts';
import { type PartnerLogin, useLogin } from '../../common/login.ts';
import { formatRoute, type Route } from '../../common/route.ts';
import { PageHeading } from '../../common/shell.tsx';
import { Sparkline } from '../../common/sparkline.tsx';
import { Empty, WhenLoaded } from '../../common/states.tsx';
import { useApi } from '../../common/use-api.ts';
import { overviewDays } from '../limits.ts';
import { partnerPath } from '../partner-path.ts';
import { ExperimentList } from '../parts/experiment-list.tsx';

type Recent = NonNullable<TagFigures['recent']>;

/** Returns a column with a figure of the recent days. */
function recentColumn(
  header: string,
  member: Exclude<keyof Recent, 'daily'>,
  format: (value: number) => string,
): Column<TagFigures> {
  return {
    header,
    isNumber: true,
    cell: ({ recent }) => (recent === undefined ? null : format(recent[member])),
    value: ({ recent }) => recent?.[member],
    csvName: member,
  };
}

/** Returns a column with a small plot of a figure of each day. */
function dailyColumn(
  header: string,
  member: 'sessions_total' | 'rev_confirmed',
  format: (value: number) => string,
): Column<TagFigures> {
  return {
    header,
    cell: ({ recent }) => {
      // Today is not over.
      const values = (recent?.daily ?? []).slice(0, -1).map((day) => day[member]);
      const label = `${header}: from ${format(Math.min(...values))} to ${format(Math.max(...values))}, last ${format(values.at(-1) ?? 0)}`;
      return <Sparkline values={values} label={label} />;
    },
  };
}

const tagColumns: readonly Column<TagFigures>[] = [
  {
    header: 'Tag',
    cell: ({ referrer_tag: tag }) => <a href={formatRoute(['sessions'], { tag, days: String(overviewDays) })}>{tag}</a>,
    value: (tag) => tag.referrer_tag,
    csvName: 'referrer_tag',
  },
  recentColumn('Sessions', 'sessions_total', formatCount),
  dailyColumn('Sessions a day', 'sessions_total', formatCount),
  recentColumn('Clicks', 'offer_clicks', formatCount),
  recentColumn('Clicks per view', 'click_rate', formatShare),
  recentColumn('Expected revenue', 'rev_attributed', formatUsd),
  recentColumn('Confirmed revenue', 'rev_confirmed', formatUsd),
  dailyColumn('Confirmed a day', 'rev_confirmed', formatUsd),
  {
    header: 'Last session',
    note: 'UTC',
    cell: (tag) => <span class="nowrap">{formatTime(tag.last_session_at)}</span>,
    value: (tag) => tag.last_session_at,
    csvName: 'last_session_at',
  },
];

/** Page with the experiments and the tags of the last days. */
export function OverviewPage({ route }: { readonly route: Route }) {
  const login = useLogin<PartnerLogin>();
  const path = partnerPath(login, ['tags'], {
    recent_days: overviewDays,
    limit: tableRowsPerPage,
    cursor: route.query.cursor,
  });
  const tags = useApi<TagsResponse>(path, ['data', 'next_cursor']);
  return (
    <>
      <PageHeading title="Overview" lead={`Experiments and tags of the last ${overviewDays} days.`} />
      <ExperimentList route={route} />
      <section class="card section">
        <h2>Tags</h2>
        <WhenLoaded loaded={tags} what="tags">
          {({ data, next_cursor }) => (
            <>
              <p class="soft">{describeDays(data)}</p>
              <DataTable
                caption={`Tags with sessions in the last ${overviewDays} days`}
                isCaptionHidden
                columns={tagColumns}
                rows={data}
                rowKey={({ referrer_tag }) => referrer_tag}
                csvName="tags"
                paging={createCursorPaging(route, next_cursor)}
                empty={<NoTags />}
              />
            </>
          )}
        </WhenLoaded>
      </section>
    </>
  );
}

/** Says which days the figures cover, and that recent revenue is not complete. */
function describeDays(tags: readonly TagFigures[]): string {
  const daily = tags[0]?.recent?.daily ?? [];
  const [first, last] = [daily[0]?.date, daily.at(-1)?.date];
  if (first === undefined) return '';
  return `Sessions from ${formatUtcDay(first)} to ${formatUtcDay(last)}. Lenders confirm revenue weeks after the click, so do not compare recent tags by confirmed revenue. An experiment says which page earns more.`;
}

function NoTags() {
  return (
    <Empty title={`No sessions in the last ${overviewDays} days`}>
      <p>
        A tag appears here with its first session. Create sessions with <code>POST /session</code> and a{' '}
        <code>referrer_tag</code> for each page.
      </p>
    </Empty>
  );
}
