import type { ExperimentsResponse, TagFigures, TagsResponse } from '../../common/api-types.ts';
import { createCursorPaging } from '../../common/cursor-paging.ts';
import { type Column, DataTable } from '../../common/data-table.tsx';
import { formatCount, formatUsd, formatUtcTime } from '../../common/format.ts';
import { tableRowsPerPage } from '../../common/limits.ts';
import { type PartnerLogin, useLogin } from '../../common/login.ts';
import { formatRoute, type Route } from '../../common/route.ts';
import { PageHeading } from '../../common/shell.tsx';
import { Empty, WhenLoaded } from '../../common/states.tsx';
import { useApi } from '../../common/use-api.ts';
import { partnerPath } from '../partner-path.ts';

const tagColumns: readonly Column<TagFigures>[] = [
  { header: 'Tag', cell: (tag) => tag.referrer_tag, value: (tag) => tag.referrer_tag },
  {
    header: 'Sessions',
    isNumber: true,
    cell: (tag) => formatCount(tag.sessions_total),
    value: (tag) => tag.sessions_total,
  },
  { header: 'Clicks', isNumber: true, cell: (tag) => formatCount(tag.offer_clicks), value: (tag) => tag.offer_clicks },
  {
    header: 'Confirmed',
    isNumber: true,
    cell: (tag) => formatUsd(tag.rev_confirmed),
    value: (tag) => tag.rev_confirmed,
  },
  { header: 'Last session', cell: (tag) => formatUtcTime(tag.last_session_at), value: (tag) => tag.last_session_at },
];

/** Page with the experiments and the tags. */
export function OverviewPage({ route }: { readonly route: Route }) {
  const login = useLogin<PartnerLogin>();
  const experiments = useApi<ExperimentsResponse>(partnerPath(login, ['experiments'], { limit: tableRowsPerPage }), [
    'data',
  ]);
  const tags = useApi<TagsResponse>(
    partnerPath(login, ['tags'], { limit: tableRowsPerPage, cursor: route.query.cursor }),
    ['data'],
  );
  return (
    <>
      <PageHeading title="Overview">Overview</PageHeading>
      <section class="card section">
        <h2>Experiments</h2>
        <WhenLoaded loaded={experiments} what="experiments">
          {({ data }) => (
            <ul>
              {data.map(({ name }) => (
                <li key={name}>
                  <a href={formatRoute(['experiments', name])}>{name}</a>
                </li>
              ))}
            </ul>
          )}
        </WhenLoaded>
      </section>
      <section class="card section">
        <h2>Tags</h2>
        <WhenLoaded loaded={tags} what="tags">
          {({ data, next_cursor }) => (
            <DataTable
              caption="Tags"
              isCaptionHidden
              columns={tagColumns}
              rows={data}
              rowKey={({ referrer_tag }) => referrer_tag}
              csvName="tags"
              paging={createCursorPaging(route, next_cursor)}
              empty={
                <Empty title="No sessions yet">
                  <p>A tag appears here with its first session.</p>
                </Empty>
              }
            />
          )}
        </WhenLoaded>
      </section>
    </>
  );
}
