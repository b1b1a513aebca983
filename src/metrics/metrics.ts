import {
  type GaugeSources,
  type LogIncidentKind,
  type LogName,
  logIncidentKinds,
  logNames,
  registerGauges,
} from './gauges.ts';
import {
  BucketHistogram,
  batchRequestsBuckets,
  groupBytesBuckets,
  groupRecordsBuckets,
  logWriteDurationBuckets,
  requestDurationBuckets,
} from './histogram.ts';
import { MetricRegistry } from './metric-registry.ts';
import { registerProcessMetrics } from './process-metrics.ts';

const lowestStatus = 100;
const statusCount = 500;

/**
 * Counts answers by route and status, and how long they took by route. This runs with every request: it adds to arrays that
 * were made beforehand, and whatever makes text of them waits for a scrape.
 */
export class RequestCounter {
  readonly routes: readonly string[];
  readonly durations: BucketHistogram;
  readonly #replies: Float64Array;

  /** @param routes the names that requests are told apart by: few, and never anything a caller sent */
  constructor(routes: readonly string[]) {
    this.routes = routes;
    this.durations = new BucketHistogram(requestDurationBuckets, routes.length);
    this.#replies = new Float64Array(routes.length * statusCount);
  }

  /** @param route its place among the routes */
  readonly record = (route: number, status: number, elapsedUs: number): void => {
    this.#replies[route * statusCount + status - lowestStatus]! += 1;
    this.durations.observe(elapsedUs, route);
  };

  /** How many answers there were of each route and status, where there were any. */
  *counts(): Generator<{ readonly route: string; readonly status: number; readonly count: number }> {
    for (const [at, route] of this.routes.entries()) {
      for (let status = lowestStatus; status < lowestStatus + statusCount; status++) {
        const count = this.#replies[at * statusCount + status - lowestStatus]!;
        if (count > 0) yield { route, status, count };
      }
    }
  }
}

const rateLimitKinds = ['minute', 'analytics', 'day'] as const;
const unauthorizedKinds = ['unauthorized', 'vertical_mismatch'] as const;

/** Why a request got no further than the gate: by what it lacked, or by which of the limits. */
type AuthRefusal = (typeof rateLimitKinds)[number] | (typeof unauthorizedKinds)[number];

/**
 * What happens in a service, counted for its operator from the first moment on; `watch` adds what is read where it is kept.
 * What happens often is counted in arrays, which are read when a scrape asks; only rare events are counted by the library.
 */
export class Metrics {
  readonly requests: RequestCounter;
  readonly #registry = new MetricRegistry();
  readonly #authRefusals: Record<AuthRefusal, number> = {
    minute: 0,
    analytics: 0,
    day: 0,
    unauthorized: 0,
    vertical_mismatch: 0,
  };
  readonly #groupRecords = new BucketHistogram(groupRecordsBuckets, logNames.length);
  readonly #groupBytes = new BucketHistogram(groupBytesBuckets, logNames.length);
  readonly #logWriteDurations = new BucketHistogram(logWriteDurationBuckets, logNames.length);
  readonly #batchRequests = new BucketHistogram(batchRequestsBuckets);
  readonly #unrecordedClicks = this.#registry.counter(
    'marketplace_clicks_unrecorded_total',
    'Clicks redirected before their record was durable, or without one.',
  );
  readonly #lostViews = this.#registry.counter(
    'marketplace_views_lost_total',
    'Views answered that the ledger could not take.',
  );
  readonly #missingSessions = this.#registry.counter(
    'marketplace_sessions_missing_total',
    'Requests for a session that should be live and is in no store. Should stay at zero.',
  );
  readonly #widgetEvents = this.#registry.counter(
    'marketplace_widget_events_total',
    'Events that widgets told and the ledger took, by type.',
    ['type'],
  );
  readonly #requestTimeouts = this.#registry.counter(
    'marketplace_deadlines_total',
    'Requests answered 503 because they took too long, on either listener.',
  );
  readonly #requestErrors = this.#registry.counter(
    'marketplace_faults_total',
    'Faults while a request was handled, on either listener: answered 500 unless the answer had left.',
  );
  readonly #logIncidents = this.#registry.counter(
    'marketplace_log_troubles_total',
    'What went wrong with a log, by log and kind.',
    ['log', 'kind'],
  );
  readonly #matchWorkerFailures = this.#registry.counter(
    'marketplace_match_worker_failures_total',
    'Matching workers that died, at work or idle, or could not be made ready; they are replaced.',
  );
  readonly #aggregatorRestarts = this.#registry.counter(
    'marketplace_aggregator_restarts_total',
    'Times the aggregator died and was started again.',
  );
  readonly #analyticsRebuilds = this.#registry.counter(
    'marketplace_analytics_rebuilds_total',
    'Times the analytics were derived from the start of the ledger again.',
  );

  /** @param routes what requests are told apart by; see `RequestCounter` */
  constructor(routes: readonly string[]) {
    this.requests = new RequestCounter(routes);
    this.#registerRequestMetrics(routes);
    this.#registerLogMetrics();
    this.#registry.histogramFrom(
      'marketplace_match_batch_requests',
      'Requests that travelled to a matching worker together.',
      this.#batchRequests,
    );
    registerProcessMetrics(this.#registry);
  }

  /** Once, when everything that is read is there. */
  registerGauges(watched: GaugeSources): void {
    registerGauges(this.#registry, watched);
  }

  readonly countUnrecordedClick = (): void => this.#unrecordedClicks.inc();
  readonly countLostView = (): void => this.#lostViews.inc();
  readonly countWidgetEvents = (types: readonly string[]): void => {
    for (const type of types) this.#widgetEvents.inc({ type });
  };
  readonly countMissingSession = (): void => this.#missingSessions.inc();
  readonly countRequestTimeout = (): void => this.#requestTimeouts.inc();
  readonly countRequestError = (): void => this.#requestErrors.inc();
  readonly countAuthRefusal = (why: AuthRefusal): void => {
    this.#authRefusals[why] += 1;
  };
  readonly observeMatchBatch = (requests: number): void => this.#batchRequests.observe(requests);
  readonly countMatchWorkerFailure = (): void => this.#matchWorkerFailures.inc();
  readonly countAggregatorRestart = (): void => this.#aggregatorRestarts.inc();
  readonly countAnalyticsRebuild = (): void => this.#analyticsRebuilds.inc();

  countLogIncident(log: LogName, kind: LogIncidentKind): void {
    this.#logIncidents.inc({ log, kind });
  }

  /** What a log tells of each group it has stored. */
  logGroupObserver(log: LogName): (records: number, bytes: number, elapsedUs: number) => void {
    const series = logNames.indexOf(log);
    return (records, bytes, elapsedUs) => {
      this.#groupRecords.observe(records, series);
      this.#groupBytes.observe(bytes, series);
      this.#logWriteDurations.observe(elapsedUs, series);
    };
  }

  readonly contentType = this.#registry.contentType;

  /** All of it in the Prometheus text format. */
  render(): Promise<string> {
    return this.#registry.render();
  }

  #registerRequestMetrics(routes: readonly string[]): void {
    const { requests } = this;
    this.#registry.counterFrom(
      'marketplace_requests_total',
      'Requests answered on the public listener, by route and status.',
      ['route', 'status'],
      () => [...requests.counts()].map(({ route, status, count }) => ({ labels: { route, status }, value: count })),
    );
    this.#registry.histogramFrom(
      'marketplace_request_duration_seconds',
      "From a request's head to its answer, on the public listener, by route.",
      requests.durations,
      { label: 'route', values: routes },
    );
    this.#registry.counterFrom(
      'marketplace_limit_refusals_total',
      "Requests refused by a key's limit: of a minute, of analytics queries in a minute, of sessions in a day.",
      ['limit'],
      () => rateLimitKinds.map((limit) => ({ labels: { limit }, value: this.#authRefusals[limit] })),
    );
    this.#registry.counterFrom(
      'marketplace_authorization_refusals_total',
      'Requests refused for want of a valid key, or with a key of another vertical.',
      ['reason'],
      () => unauthorizedKinds.map((reason) => ({ labels: { reason }, value: this.#authRefusals[reason] })),
    );
  }

  #registerLogMetrics(): void {
    const series = { label: 'log', values: logNames };
    this.#registry.histogramFrom(
      'marketplace_log_group_records',
      'Records written together, by log.',
      this.#groupRecords,
      series,
    );
    this.#registry.histogramFrom(
      'marketplace_log_group_bytes',
      'Bytes written together, by log.',
      this.#groupBytes,
      series,
    );
    this.#registry.histogramFrom(
      'marketplace_log_store_duration_seconds',
      'Time to write and sync one group, by log.',
      this.#logWriteDurations,
      series,
    );
    // A counter that first appears with its first event shows a reader no increase.
    for (const log of logNames) for (const kind of logIncidentKinds) this.#logIncidents.inc({ log, kind }, 0);
  }
}
