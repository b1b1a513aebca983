import { apiPath } from '../../common/api-client.ts';
import { createCursorPaging } from '../../common/cursor-paging.ts';
import { type Column, DataTable } from '../../common/data-table.tsx';
import { formatCount, formatTime, formatUtcTime } from '../../common/format.ts';
import { tableRowsPerPage } from '../../common/limits.ts';
import { formatRoute, type Route } from '../../common/route.ts';
import { PageHeading } from '../../common/shell.tsx';
import { Empty, WhenLoaded } from '../../common/states.tsx';
import { useApi } from '../../common/use-api.ts';
import type { Key, KeysPage as KeysAnswer, LimitUse } from '../api-types.ts';
import { AccountFilter } from '../parts/account-filter.tsx';
import { KeyStateWord } from '../parts/key-state-word.tsx';

const columns: readonly Column<Key>[] = [
  {
    header: 'Key',
    csvName: 'id',
    cell: ({ id }) => <a href={formatRoute(['keys', id])}>{id}</a>,
    value: ({ id }) => id,
  },
  { header: 'Account', csvName: 'account', cell: ({ account }) => account, value: ({ account }) => account },
  {
    header: 'Vertical and mode',
    csvName: 'vertical',
    cell: ({ vertical, mode }) => `${vertical}, ${mode}`,
    value: ({ vertical, mode }) => `${vertical} ${mode}`,
  },
  { header: 'State', csvName: 'state', cell: (key) => <KeyStateWord keyInfo={key} />, value: ({ state }) => state },
  {
    header: 'Last used (UTC)',
    csvName: 'last_used_at',
    cell: ({ last_used_at }) => (last_used_at === null ? 'no known use' : formatTime(last_used_at)),
    value: ({ last_used_at }) => last_used_at,
  },
  {
    header: 'Requests',
    note: 'last minute, of limit',
    csvName: 'requests_last_minute',
    isNumber: true,
    cell: ({ usage }) => formatUse(usage.requests_per_minute),
    value: ({ usage }) => usage.requests_per_minute.used,
  },
  {
    header: 'Sessions',
    note: 'UTC day, of limit',
    csvName: 'sessions_today',
    isNumber: true,
    cell: ({ usage }) => formatUse(usage.sessions_per_day),
    value: ({ usage }) => usage.sessions_per_day.used,
  },
];

/** Formats the use of a limit: `12 of 6,000`. */
export function formatUse({ used, limit }: LimitUse): string {
  return limit === null ? `${formatCount(used)}, no limit` : `${formatCount(used)} of ${formatCount(limit)}`;
}

/** Page with the API keys, oldest first. */
export function KeysPage({ route }: { readonly route: Route }) {
  const { account = '', cursor } = route.query;
  const query = { limit: tableRowsPerPage, account: account || null, cursor };
  const loaded = useApi<KeysAnswer>(apiPath(['keys'], query), ['data', 'next_cursor']);
  return (
    <>
      <PageHeading title="API keys" lead="Partners send a key with each request. Oldest keys first." />
      <div class="toolbar">
        <AccountFilter account={account} />
        <a class="button" href={formatRoute(['keys', 'new'], { account })}>
          Create a key
        </a>
      </div>
      <section class="card section">
        <WhenLoaded loaded={loaded} what="API keys">
          {({ data, next_cursor, uses_known_since }) => (
            <DataTable
              caption="API keys"
              isCaptionHidden
              columns={columns}
              rows={data}
              rowKey={({ id }) => id}
              csvName="api-keys"
              paging={createCursorPaging(route, next_cursor)}
              foot={
                uses_known_since !== undefined && (
                  <p class="soft">
                    “No known use” means that the key was not used since {formatUtcTime(uses_known_since)}.
                  </p>
                )
              }
              empty={
                <Empty title={account === '' ? 'No API keys yet' : `No keys of the account ${account}`}>
                  <p>
                    Create a key for each vertical of a partner: a test key first, and a live key for real visitors.
                  </p>
                </Empty>
              }
            />
          )}
        </WhenLoaded>
      </section>
    </>
  );
}
