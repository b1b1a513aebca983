import { statfs } from 'node:fs/promises';
import { Counter, Gauge, Registry } from 'prom-client';
import { BucketTally } from './bucket-tally.ts';
import type { EventLoopDelay } from './event-loop-delay.ts';
import { inTime } from './in-time.ts';
import { addProcessMetrics } from './process-metrics.ts';
import { RequestTally } from './request-tally.ts';
import { batchRequests, groupBytes, groupRecords, storeDurations } from './scales.ts';
import { TalliedHistogram } from './tallied-histogram.ts';

/** The two logs that groups of records are written to. */
export const logNames = ['ledger', 'journal'] as const;
export type LogName = (typeof logNames)[number];

const logTroubles = ['tail-cut', 'segment-abandoned', 'unavailable', 'healed', 'records-lost', 'not-tended'] as const;
/** What may happen to a log; `not-tended` to the journal alone, when no new epoch could be begun or no old one removed. */
export type LogTroubleKind = (typeof logTroubles)[number];

/** Why a request got no further than the gate: by what it lacked, or by which of the limits. */
export type GateRefusal = 'unauthorized' | 'vertical_mismatch' | 'minute' | 'analytics' | 'day';

export interface CatalogFigures {
  readonly vertical: string;
  readonly mode: string;
  readonly version: string;
  readonly offers: number;
  /** Wall time from which it is in use, as this process knows it. */
  readonly sinceMs: number;
  /** Whether the last look at its file found it faulty. */
  readonly faulty: boolean;
}

/** What is read where it is kept, at each scrape. */
export interface MetricSources {
  readonly build: { readonly version: string; readonly engine: string };
  readonly dataDir: string;
  readonly loopDelay: Pick<EventLoopDelay, 'tally' | 'use'>;
  readonly ready: () => boolean;
  readonly liveSessions: () => number;
  readonly liveSessionsMax: number;
  readonly requestsInFlight: () => number;
  readonly apiKeys: () => number;
  readonly catalogs: () => readonly CatalogFigures[];
  readonly matchThreads: number;
  readonly matchesWaiting: () => number;
  readonly offersAtDailyCap: () => number;
  readonly logHealthy: Readonly<Record<LogName, () => boolean>>;
  readonly ledgerAppended: () => number;
  readonly ledgerDurable: () => number;
  readonly analyticsFolded: () => number;
  /** Seconds for which the oldest record has been durable that the analytics do not count yet. */
  readonly analyticsLagSeconds: () => number;
  readonly aggregatorUp: () => boolean;
  /** Records the analytics counters left out, by why; rejects while the aggregator cannot say. */
  readonly analyticsLeftOut: () => Promise<Readonly<Record<string, number>>>;
}

/**
 * The figures an operator watches, in a registry of its own: several services may run in one process. What happens often is
 * counted in arrays, and what is kept elsewhere is read there, both when a scrape asks; only rare events are counted by the
 * library. It counts from its making, and shows what is read elsewhere from `watch` on.
 */
export class Metrics {
  readonly requests: RequestTally;
  readonly #registry = new Registry();
  readonly #refusals: Record<GateRefusal, number> = {
    unauthorized: 0,
    vertical_mismatch: 0,
    minute: 0,
    analytics: 0,
    day: 0,
  };
  readonly #groupRecords = new BucketTally(groupRecords, logNames.length);
  readonly #groupBytes = new BucketTally(groupBytes, logNames.length);
  readonly #storeDurations = new BucketTally(storeDurations, logNames.length);
  readonly #batchRequests = new BucketTally(batchRequests);
  readonly #clicksUnrecorded = this.#counter(
    'marketplace_clicks_unrecorded_total',
    'Clicks redirected before their record was durable, or without one.',
  );
  readonly #viewsLost = this.#counter('marketplace_views_lost_total', 'Views answered that the ledger could not take.');
  readonly #sessionsMissing = this.#counter(
    'marketplace_sessions_missing_total',
    'Requests for a session that should be live and is in no store. Should stay at zero.',
  );
  readonly #widgetEvents = this.#counter(
    'marketplace_widget_events_total',
    'Events that widgets told and the ledger took, by type.',
    ['type'],
  );
  readonly #deadlines = this.#counter(
    'marketplace_deadlines_total',
    'Requests answered 503 because they took too long, on either listener.',
  );
  readonly #faults = this.#counter(
    'marketplace_faults_total',
    'Faults while a request was handled, on either listener: answered 500 unless the answer had left.',
  );
  readonly #logTroubles = this.#counter(
    'marketplace_log_troubles_total',
    'What went wrong with a log, by log and kind.',
    ['log', 'kind'],
  );
  readonly #matchWorkerFailures = this.#counter(
    'marketplace_match_worker_failures_total',
    'Matching workers that died or could not start; their requests were matched anew.',
  );
  readonly #aggregatorRestarts = this.#counter(
    'marketplace_aggregator_restarts_total',
    'Times the aggregator died and was started again.',
  );
  readonly #analyticsRebuilds = this.#counter(
    'marketplace_analytics_rebuilds_total',
    'Times the analytics were derived from the start of the ledger again.',
  );

  /** @param routes what requests are told apart by; see `RequestTally` */
  constructor(routes: readonly string[]) {
    this.requests = new RequestTally(routes);
    this.#counted(
      'marketplace_requests_total',
      'Requests answered on the public listener, by route and status.',
      ['route', 'status'],
      () =>
        [...this.requests.answered()].map(({ route, status, count }) => ({ labels: { route, status }, value: count })),
    );
    new TalliedHistogram(
      this.#registry,
      'marketplace_request_duration_seconds',
      "From a request's head to its answer, on the public listener, by route.",
      this.requests.durations,
      { label: 'route', values: routes },
    );
    this.#counted(
      'marketplace_limit_refusals_total',
      "Requests refused by a key's limit: of a minute, of analytics queries in a minute, of sessions in a day.",
      ['limit'],
      () => (['minute', 'analytics', 'day'] as const).map((limit) => this.#refused('limit', limit)),
    );
    this.#counted(
      'marketplace_authorization_refusals_total',
      'Requests refused for want of a valid key, or with a key of another vertical.',
      ['reason'],
      () => (['unauthorized', 'vertical_mismatch'] as const).map((reason) => this.#refused('reason', reason)),
    );
    const byLog = { label: 'log', values: logNames };
    new TalliedHistogram(
      this.#registry,
      'marketplace_log_group_records',
      'Records written together, by log.',
      this.#groupRecords,
      byLog,
    );
    new TalliedHistogram(
      this.#registry,
      'marketplace_log_group_bytes',
      'Bytes written together, by log.',
      this.#groupBytes,
      byLog,
    );
    new TalliedHistogram(
      this.#registry,
      'marketplace_log_store_duration_seconds',
      'Time to write and sync one group, by log.',
      this.#storeDurations,
      byLog,
    );
    new TalliedHistogram(
      this.#registry,
      'marketplace_match_batch_requests',
      'Requests that travelled to a matching worker together.',
      this.#batchRequests,
    );
    addProcessMetrics(this.#registry);
    // A counter that first appears with its first event shows a reader no increase.
    for (const log of logNames) for (const kind of logTroubles) this.#logTroubles.inc({ log, kind }, 0);
  }

  /** Once, when everything that is read is there. */
  watch(sources: MetricSources): void {
    const { build, loopDelay, logHealthy } = sources;
    this.#gauges('marketplace_build_info', 'What is running, in its labels.', ['version', 'engine', 'node'], () => [
      { labels: { ...build, node: process.versions.node }, value: 1 },
    ]);
    this.#gauge('marketplace_ready', '1 while the service takes requests, as /readyz tells.', () =>
      Number(sources.ready()),
    );
    this.#gauge(
      'marketplace_live_sessions',
      'Sessions held, expired ones not yet swept included.',
      sources.liveSessions,
    );
    this.#gauge(
      'marketplace_live_sessions_max',
      'Sessions that may be held; a new one beyond it gets 503.',
      () => sources.liveSessionsMax,
    );
    this.#gauge('marketplace_requests_in_flight', 'Requests received and not yet answered.', sources.requestsInFlight);
    this.#gauge('marketplace_api_keys', 'API keys known: issued and not revoked, expired ones included.', () =>
      sources.apiKeys(),
    );
    this.#watchCatalogs(sources.catalogs);
    this.#gauge(
      'marketplace_match_threads',
      'Matching workers; with 0 the main thread matches.',
      () => sources.matchThreads,
    );
    this.#gauge('marketplace_matches_waiting', 'Rankings waiting or under way.', sources.matchesWaiting);
    this.#gauge(
      'marketplace_offers_at_daily_cap',
      'Offers left out of answers until UTC midnight, of all catalogs in use.',
      sources.offersAtDailyCap,
    );
    this.#gauges('marketplace_log_healthy', '1 while the log can be written, by log.', ['log'], () =>
      logNames.map((log) => ({ labels: { log }, value: Number(logHealthy[log]()) })),
    );
    this.#gauge('marketplace_ledger_appended_position', 'Records appended to the ledger.', sources.ledgerAppended);
    this.#gauge(
      'marketplace_ledger_durable_position',
      'Records of the ledger that are durable.',
      sources.ledgerDurable,
    );
    this.#gauge(
      'marketplace_analytics_folded_position',
      'Records the analytics counters hold.',
      sources.analyticsFolded,
    );
    this.#gauge('marketplace_analytics_lag_records', 'Durable records the analytics do not count yet.', () =>
      Math.max(0, sources.ledgerDurable() - sources.analyticsFolded()),
    );
    this.#gauge(
      'marketplace_analytics_lag_seconds',
      'Time for which the oldest record has been durable that the analytics do not count yet.',
      sources.analyticsLagSeconds,
    );
    this.#gauge('marketplace_aggregator_up', '1 while the aggregator runs.', () => Number(sources.aggregatorUp()));
    this.#watchLeftOut(sources.analyticsLeftOut);
    new TalliedHistogram(
      this.#registry,
      'marketplace_event_loop_delay_seconds',
      'How late the main thread came to a timer.',
      loopDelay.tally,
    );
    this.#counted('marketplace_event_loop_active_seconds_total', 'Time the main thread had work.', [], () => [
      { labels: {}, value: loopDelay.use.active / 1000 },
    ]);
    this.#counted('marketplace_event_loop_idle_seconds_total', 'Time the main thread waited for work.', [], () => [
      { labels: {}, value: loopDelay.use.idle / 1000 },
    ]);
    this.#watchDisk(sources.dataDir);
  }

  readonly clickUnrecorded = (): void => this.#clicksUnrecorded.inc();
  readonly viewLost = (): void => this.#viewsLost.inc();
  readonly widgetEvents = (types: readonly string[]): void => {
    for (const type of types) this.#widgetEvents.inc({ type });
  };
  readonly sessionMissing = (): void => this.#sessionsMissing.inc();
  readonly deadline = (): void => this.#deadlines.inc();
  readonly fault = (): void => this.#faults.inc();
  readonly gateRefused = (why: GateRefusal): void => {
    this.#refusals[why] += 1;
  };
  readonly matchBatch = (requests: number): void => this.#batchRequests.observe(requests);
  readonly matchWorkerFailed = (): void => this.#matchWorkerFailures.inc();
  readonly aggregatorRestarted = (): void => this.#aggregatorRestarts.inc();
  readonly analyticsRebuilt = (): void => this.#analyticsRebuilds.inc();

  logTrouble(log: LogName, kind: LogTroubleKind): void {
    this.#logTroubles.inc({ log, kind });
  }

  /** What a log tells of each group it has stored. */
  groupsOf(log: LogName): (records: number, bytes: number, elapsedUs: number) => void {
    const series = logNames.indexOf(log);
    return (records, bytes, elapsedUs) => {
      this.#groupRecords.observe(records, series);
      this.#groupBytes.observe(bytes, series);
      this.#storeDurations.observe(elapsedUs, series);
    };
  }

  readonly contentType = this.#registry.contentType;

  /** All of it in the Prometheus text format. */
  render(): Promise<string> {
    return this.#registry.metrics();
  }

  #watchCatalogs(catalogs: MetricSources['catalogs']): void {
    this.#gauges(
      'marketplace_catalog_info',
      'The catalogs in use, in its labels.',
      ['vertical', 'mode', 'version'],
      () => catalogs().map(({ vertical, mode, version }) => ({ labels: { vertical, mode, version }, value: 1 })),
    );
    const ofEach = (name: string, help: string, read: (catalog: CatalogFigures) => number): void =>
      this.#gauges(name, help, ['vertical', 'mode'], () =>
        catalogs().map((catalog) => ({
          labels: { vertical: catalog.vertical, mode: catalog.mode },
          value: read(catalog),
        })),
      );
    ofEach('marketplace_catalog_offers', 'Offers of the catalog in use.', ({ offers }) => offers);
    ofEach(
      'marketplace_catalog_in_use_since_timestamp_seconds',
      'Since when this process uses the catalog, as Unix time.',
      ({ sinceMs }) => sinceMs / 1000,
    );
    ofEach('marketplace_catalog_faulty', '1 while a changed catalog file is not taken because it is faulty.', (one) =>
      Number(one.faulty),
    );
  }

  #watchLeftOut(read: MetricSources['analyticsLeftOut']): void {
    // One question at a time, however many scrapes there are: the aggregator has others to answer.
    let asked: ReturnType<typeof read> | null = null;
    const ask = (): ReturnType<typeof read> => {
      asked ??= read().finally(() => {
        asked = null;
      });
      return asked;
    };
    new Counter({
      name: 'marketplace_analytics_left_out_total',
      help: 'Records of the ledger that counted nothing, by reason.',
      labelNames: ['reason'],
      registers: [this.#registry],
      async collect() {
        // The figures of the last scrape stay while the aggregator is being started again or is held up.
        const leftOut = await inTime(ask());
        if (leftOut === null) return;
        this.reset();
        for (const [reason, records] of Object.entries(leftOut)) this.inc({ reason }, records);
      },
    });
  }

  #watchDisk(dataDir: string): void {
    const gauge = (name: string, help: string, blocks: 'bavail' | 'blocks'): void => {
      new Gauge({
        name,
        help,
        registers: [this.#registry],
        async collect() {
          const disk = await inTime(statfs(dataDir));
          if (disk === null) this.remove();
          else this.set(disk[blocks] * disk.bsize);
        },
      });
    };
    gauge('marketplace_data_disk_free_bytes', 'Room left on the disk of the data folder.', 'bavail');
    gauge('marketplace_data_disk_size_bytes', 'Size of the disk of the data folder.', 'blocks');
  }

  #refused<Label extends string>(label: Label, why: GateRefusal) {
    return { labels: { [label]: why }, value: this.#refusals[why] };
  }

  #counter(name: string, help: string, labelNames: readonly string[] = []): Counter {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  /** A counter whose samples are kept elsewhere. */
  #counted(name: string, help: string, labelNames: readonly string[], read: () => readonly Sample[]): void {
    new Counter({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const { labels, value } of read()) this.inc(labels, value);
      },
    });
  }

  #gauge(name: string, help: string, read: () => number): void {
    this.#gauges(name, help, [], () => [{ labels: {}, value: read() }]);
  }

  #gauges(name: string, help: string, labelNames: readonly string[], read: () => readonly Sample[]): void {
    new Gauge({
      name,
      help,
      labelNames,
      registers: [this.#registry],
      collect() {
        this.reset();
        for (const { labels, value } of read()) this.set(labels, value);
      },
    });
  }
}

interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}
