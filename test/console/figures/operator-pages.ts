import { formatCount, formatShare, formatTime, formatUtcTime } from '../../../src/web/console/common/format.ts';
import type { Key, KeysPage, LimitUse, Origin, Page, Status } from '../../../src/web/console/operator/api-types.ts';
import { formatBytes, formatDuration } from '../../../src/web/console/operator/parts/format-units.ts';
import {
  type Api,
  column,
  type ExpectedColumn,
  type ExpectedPage,
  type FigurePage,
  shownColumn,
  table,
} from './expected-page.ts';

const useText = ({ used, limit }: LimitUse) =>
  limit === null ? `${formatCount(used)}, no limit` : `${formatCount(used)} of ${formatCount(limit)}`;
const shareText = (used: number, limit: number | null) => (limit === null ? '' : ` ${formatShare(used / limit)}`);
const timeOr = (absent: string) => (time: string | null) => (time === null ? absent : formatUtcTime(time));

/** Returns what the page shows for an answer of `GET /status`. Its figures change with each request. */
function expectHealth(status: Status): ExpectedPage {
  const { sessions, matching, disk, ledger, analytics, test_clock: clock } = status;
  const pendingMax = 4_096;
  const lag = analytics.lag_records;
  return {
    fields: ['Days to advance (1 to 92): 1'],
    figures: {
      'Live sessions': `${formatCount(sessions.live)} of ${formatCount(sessions.limit)}${shareText(sessions.live, sessions.limit)}`,
      'Rankings waiting or in progress': `${matching.pending} of ${formatCount(pendingMax)}${shareText(matching.pending, pendingMax)}`,
      'Disk of the data folder': `${formatBytes(disk!.free_bytes)} free of ${formatBytes(disk!.size_bytes)}${shareText(disk!.size_bytes - disk!.free_bytes, disk!.size_bytes)}`,
      'Records not durable yet': formatCount(ledger.appended_position - ledger.durable_position),
      'Records not in the analytics yet':
        lag === 0 ? '0' : `${formatCount(lag)}, the oldest ${analytics.lag_seconds.toFixed(1)} s ago`,
      Ledger: 'can be written',
      Journal: 'can be written',
      Analytics: 'running',
      'Matching threads': 'none: the main thread ranks',
      'Requests in progress': formatCount(status.requests_in_flight),
      'API keys, without revoked ones': formatCount(status.keys),
      Verticals: status.verticals.join(', '),
      Started: `${formatUtcTime(status.started_at)} (${formatDuration(status.uptime_seconds)} ago)`,
      Version: `${status.version}, engine ${status.engine}, Node.js ${status.node}`,
      Certificate: 'none: the public listener uses no TLS',
    },
    texts: [
      `The service takes requests of partners. As of ${formatUtcTime(status.now)}.`,
      `The figures of this service are not real. The test clock shows ${formatUtcTime(clock!.now)}, ${formatCount(clock!.advanced_days)} days ahead of the clock of the machine. The test clock cannot go back. Advancing it ends the logins of both consoles, because a login lasts eight hours.`,
      'Days to advance (1 to 92)',
      'At the limit, new sessions get 503.',
      'At the limit, requests for offers get 503.',
      'Appended to the ledger and not yet on disk. Usually 0.',
    ],
  };
}

/** Latest answer that the page has shown; the state of the service changes with each request. */
let shownStatus: Status | null = null;

export const healthPage: FigurePage = {
  name: 'health',
  place: '#/keys',
  async prepare(page) {
    await page.route('**/console/api/status', async (route) => {
      const response = await route.fetch();
      shownStatus ??= (await response.json()) as Status;
      await route.fulfill({ response, json: shownStatus });
    });
    await page.getByRole('link', { name: 'Health' }).click();
    await page.getByText('Limits in use now').waitFor();
  },
  expect: async () => expectHealth(shownStatus!),
};

const keyColumns: readonly ExpectedColumn<Key>[] = [
  column('Key', ({ id }) => id, String, 'id'),
  column('Account', ({ account }) => account, String, 'account'),
  {
    ...column('Vertical and mode', ({ vertical, mode }: Key) => `${vertical} ${mode}`, String, 'vertical'),
    cell: ({ vertical, mode }) => `${vertical}, ${mode}`,
  },
  {
    ...column('State', ({ state }: Key) => state, String, 'state'),
    cell: ({ state, scope }) => (scope === 'analytics' ? `${state} read-only` : state),
  },
  column(
    'Last used (UTC)',
    (key) => key.last_used_at,
    (time) => (time === null ? 'no known use' : formatTime(time)),
    'last_used_at',
  ),
  {
    ...column('Requests last minute, of limit', ({ usage }: Key) => usage.requests_per_minute.used),
    csvName: 'requests_last_minute',
    cell: ({ usage }) => useText(usage.requests_per_minute),
  },
  {
    ...column('Sessions UTC day, of limit', ({ usage }: Key) => usage.sessions_per_day.used),
    csvName: 'sessions_today',
    cell: ({ usage }) => useText(usage.sessions_per_day),
  },
];

export const keysPage: FigurePage = {
  name: 'keys',
  place: '#/keys',
  async expect({ operator }) {
    const { data, uses_known_since: since } = await operator<KeysPage>('keys?limit=25');
    return {
      tables: { 'API keys': table(data, keyColumns) },
      texts: [`“No known use” means that the key was not used since ${formatUtcTime(since)}.`],
    };
  },
};

const findKey = async ({ operator }: Api) => (await operator<KeysPage>('keys?limit=1')).data[0]!;

export const keyPage: FigurePage = {
  name: 'key',
  place: async (api) => `#/keys/${(await findKey(api)).id}`,
  async expect(api) {
    const { id } = await findKey(api);
    const key = await api.operator<Key>(`keys/${id}`);
    const { requests_per_minute: requests, analytics_per_minute: queries, sessions_per_day: sessions } = key.usage;
    const useOf = (use: LimitUse) => `${useText(use)}${shareText(use.used, use.limit)}`;
    return {
      figures: {
        State: key.state,
        Account: key.account,
        'Vertical and mode': `${key.vertical}, ${key.mode}`,
        Created: formatUtcTime(key.created_at),
        Expires: timeOr('never')(key.expires_at),
        'Last used': timeOr('no known use')(key.last_used_at),
        'Requests in the last minute': useOf(requests),
        'Analytics queries in the last minute': useOf(queries),
        'Sessions of the UTC day': useOf(sessions),
      },
      texts: [`Key ${id}`, 'Requests with a revoked key get 401. A revoked key cannot be used again.'],
    };
  },
};

export const originsPage: FigurePage = {
  name: 'origins',
  place: '#/origins',
  async expect({ operator }) {
    const { data } = await operator<Page<Origin>>('origins?limit=25');
    const columns: readonly ExpectedColumn<Origin>[] = [
      column('Origin', ({ origin }) => origin, String, 'origin'),
      column('Account', ({ account }) => account, String, 'account'),
      shownColumn('Change', ({ origin, account }) => `Remove ${origin} of ${account}`),
    ];
    return { tables: { 'Widget origins': table(data, columns) } };
  },
};
