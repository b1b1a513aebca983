import type { ComponentChildren } from 'preact';
import { formatCount, formatUtcTime, unitSpace } from '../../common/format.ts';
import { PageHeading } from '../../common/shell.tsx';
import { Notice, WhenLoaded } from '../../common/states.tsx';
import { useApi } from '../../common/use-api.ts';
import type { Status } from '../api-types.ts';
import { limits } from '../limits.ts';
import { formatBytes, formatDuration } from '../parts/format-units.ts';
import { Meter } from '../parts/meter.tsx';
import { useRefresh } from '../parts/use-refresh.ts';
import { TestClockCard } from './test-clock-card.tsx';

/** Page with the state of the service, and the limits in use now. */
export function HealthPage() {
  const loaded = useApi<Status>('status', ['ready', 'reasons', 'sessions', 'matching', 'ledger', 'analytics']);
  useRefresh(loaded.reload, limits.statusRefreshMs);
  return (
    <>
      <PageHeading title="Health" lead="State of the service now. The page refreshes every five seconds." />
      <WhenLoaded loaded={loaded} what="the state of the service">
        {(status) => (
          <>
            <Readiness status={status} />
            {status.test_clock !== null && <TestClockCard clock={status.test_clock} onAdvanced={loaded.reload} />}
            <LimitsInUse status={status} />
            <Facts status={status} />
          </>
        )}
      </WhenLoaded>
    </>
  );
}

function Readiness({ status: { ready, reasons, now } }: { readonly status: Status }) {
  if (ready) {
    return (
      <Notice kind="good" title="The service is ready">
        <p>The service takes requests of partners. As of {formatUtcTime(now)}.</p>
      </Notice>
    );
  }
  return (
    <Notice kind="bad" title="The service is not ready">
      <p>Load balancers send no requests to the service, for these reasons:</p>
      <ul class="reasons">
        {reasons.map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
      <p class="soft">As of {formatUtcTime(now)}. The operating guide explains each reason.</p>
    </Notice>
  );
}

interface LimitRow {
  readonly name: string;
  /** What happens at the limit, or what the number means. */
  readonly meaning: string;
  readonly figures: string;
  readonly used: number | null;
  readonly limit: number;
}

function listLimits({ sessions, matching, disk, analytics, ledger }: Status): readonly LimitRow[] {
  const rows: LimitRow[] = [
    {
      name: 'Live sessions',
      meaning: 'At the limit, new sessions get 503.',
      figures: `${formatCount(sessions.live)} of ${formatCount(sessions.limit)}`,
      used: sessions.live,
      limit: sessions.limit,
    },
    {
      name: 'Rankings waiting or in progress',
      meaning: 'At the limit, requests for offers get 503.',
      figures: `${formatCount(matching.pending)} of ${formatCount(limits.pendingRankingsMax)}`,
      used: matching.pending,
      limit: limits.pendingRankingsMax,
    },
  ];
  if (disk !== null) {
    const used = disk.size_bytes - disk.free_bytes;
    rows.push({
      name: 'Disk of the data folder',
      meaning: 'On a full disk, nothing can be recorded.',
      figures: `${formatBytes(disk.free_bytes)} free of ${formatBytes(disk.size_bytes)}`,
      used,
      limit: disk.size_bytes,
    });
  }
  rows.push(
    {
      name: 'Records not durable yet',
      meaning: 'Appended to the ledger and not yet on disk. Usually 0.',
      figures: formatCount(ledger.appended_position - ledger.durable_position),
      used: null,
      limit: 0,
    },
    {
      name: 'Records not in the analytics yet',
      meaning: 'Usually less than a second of records.',
      figures:
        analytics.lag_records === 0
          ? '0'
          : `${formatCount(analytics.lag_records)}, the oldest ${analytics.lag_seconds.toFixed(1)}${unitSpace}s ago`,
      used: null,
      limit: 0,
    },
  );
  return rows;
}

function LimitsInUse({ status }: { readonly status: Status }) {
  return (
    <section class="card section" aria-labelledby="limits-title">
      <h2 id="limits-title">Limits in use now</h2>
      <dl class="meters">
        {listLimits(status).map(({ name, meaning, figures, used, limit }) => (
          <div key={name}>
            <dt>
              {name}
              <span class="note">{meaning}</span>
            </dt>
            <dd>
              <strong>{figures}</strong>
              {used !== null && <Meter used={used} limit={limit} />}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** Word for the state of a part of the service. */
function StateWord({ isGood, good, bad }: { readonly isGood: boolean; readonly good: string; readonly bad: string }) {
  return <span class={`word ${isGood ? 'good' : 'bad'}`}>{isGood ? good : bad}</span>;
}

function Facts({ status }: { readonly status: Status }) {
  const { matching, ledger, journal, analytics, certificate } = status;
  const facts: readonly (readonly [string, ComponentChildren])[] = [
    ['Ledger', <StateWord key="state" isGood={ledger.healthy} good="can be written" bad="cannot be written" />],
    ['Journal', <StateWord key="state" isGood={journal.healthy} good="can be written" bad="cannot be written" />],
    ['Analytics', <StateWord key="state" isGood={analytics.healthy} good="running" bad="not running" />],
    [
      'Matching threads',
      matching.threads === 0
        ? 'none: the main thread ranks'
        : `${formatCount(matching.threads_ready)} of ${formatCount(matching.threads)} ready`,
    ],
    ['Requests in progress', formatCount(status.requests_in_flight)],
    [
      'API keys, without revoked ones',
      <a key="keys" href="#/keys">
        {formatCount(status.keys)}
      </a>,
    ],
    ['Verticals', status.verticals.join(', ')],
    ['Started', `${formatUtcTime(status.started_at)} (${formatDuration(status.uptime_seconds)} ago)`],
    ['Version', `${status.version}, engine ${status.engine}, Node.js ${status.node}`],
    ['Certificate', describeCertificate(certificate)],
  ];
  return (
    <section class="card section" aria-labelledby="facts-title">
      <h2 id="facts-title">Parts of the service</h2>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function describeCertificate(certificate: Status['certificate']): string {
  if (certificate === null) return 'none: the public listener uses no TLS';
  const { expires_in_seconds: seconds, reload_failed: hasFailed } = certificate;
  const expiry = seconds < 0 ? `expired ${formatDuration(-seconds)} ago` : `expires in ${formatDuration(seconds)}`;
  return hasFailed ? `${expiry}; the changed file cannot be used` : expiry;
}
