import { type ReversalReason, reversalReasons, type UnbookedReason, unbookedReasons } from '../ledger/ledger-record.ts';
import { type EventLogIncidentKind, type EventLogName, eventLogNames, incidentKinds } from './gauges.ts';
import {
  BucketHistogram,
  bytesPerWriteBuckets,
  logWriteDurationBuckets,
  matchBatchSizeBuckets,
  recordsPerWriteBuckets,
  requestDurationBuckets,
} from './histogram.ts';
import { MetricRegistry } from './metric-registry.ts';
import { registerProcessMetrics } from './process-metrics.ts';

const lowestStatus = 100;
const statusCount = 500;

/** Counts replies by route and status and measures their durations, in preallocated arrays, so that recording is fast. */
class RequestCounter {
  readonly routes: readonly string[];
  readonly durations: BucketHistogram;
  readonly #replies: Float64Array;

  /** @param routes a short, fixed list of route names that never contains text from a request */
  constructor(routes: readonly string[]) {
    this.routes = routes;
    this.durations = new BucketHistogram(requestDurationBuckets, routes.length);
    this.#replies = new Float64Array(routes.length * statusCount);
  }

  readonly record = (route: number, status: number, elapsedUs: number): void => {
    this.#replies[route * statusCount + status - lowestStatus]! += 1;
    this.durations.observe(elapsedUs, route);
  };

  /** Returns all counts above zero, by route and status. */
  *counts(): Generator<{ readonly route: string; readonly status: number; readonly count: number }> {
    for (const [index, route] of this.routes.entries()) {
      for (let status = lowestStatus; status < lowestStatus + statusCount; status++) {
        const count = this.#replies[index * statusCount + status - lowestStatus]!;
        if (count > 0) yield { route, status, count };
      }
    }
  }
}

/** Outcomes of a row of confirmations (docs/confirmations.md#answers). */
const confirmationOutcomes = ['accepted', 'repeated', 'rejected', 'unknown'] as const;
type ConfirmationOutcome = (typeof confirmationOutcomes)[number];

const rateLimitKinds = ['minute', 'analytics', 'day', 'changes'] as const;
const uncountedClickKinds = ['bot', 'not_get', 'not_navigation', 'prefetch'] as const;
const forwardFailureReasons = ['unreachable', 'full', 'lost'] as const;
const unauthorizedKinds = ['unauthorized', 'vertical_mismatch', 'insufficient_scope'] as const;

type AuthRefusal = (typeof rateLimitKinds)[number] | (typeof unauthorizedKinds)[number];

/** Metrics of one service. Frequent events are counted in arrays, which a scrape reads; only rare events use counters of prom-client. */
export class Metrics {
  readonly requests: RequestCounter;
  readonly registry = new MetricRegistry();
  readonly #authRefusals = new Map<AuthRefusal, number>();
  readonly #groupRecords = new BucketHistogram(recordsPerWriteBuckets, eventLogNames.length);
  readonly #groupBytes = new BucketHistogram(bytesPerWriteBuckets, eventLogNames.length);
  readonly #logWriteDurations = new BucketHistogram(logWriteDurationBuckets, eventLogNames.length);
  readonly #batchRequests = new BucketHistogram(matchBatchSizeBuckets);
  readonly #countWidgetEvent = this.#createLabeledCounter(
    'marketplace_widget_events_total',
    'Recorded widget events, by type.',
    'type',
  );
  readonly #logIncidents = this.registry.createCounter(
    'marketplace_log_incidents_total',
    'Log incidents by log and kind.',
    ['log', 'kind'],
  );
  readonly countUnrecordedClick = this.#createCounter(
    'marketplace_unrecorded_clicks_total',
    'Clicks redirected without a durable record.',
  );
  readonly countUnbookedClick = this.#createLabeledCounter<UnbookedReason>(
    'marketplace_unbooked_clicks_total',
    'Recorded clicks that count but book no revenue, by reason.',
    'reason',
    unbookedReasons,
  );
  readonly countReversedClick = this.#createLabeledCounter<ReversalReason>(
    'marketplace_reversed_clicks_total',
    'Accepted reversals of clicks that confirmed their own revenue, by reason.',
    'reason',
    reversalReasons,
  );
  readonly #confirmations = this.registry.createCounter(
    'marketplace_confirmations_total',
    'Rows of confirmations, by outcome.',
    ['outcome'],
  );
  readonly countUncountedClick = this.#createLabeledCounter(
    'marketplace_uncounted_clicks_total',
    'Requests for click URLs that are not clicks of a person, by kind.',
    'kind',
    uncountedClickKinds,
  );
  readonly countLostView = this.#createCounter('marketplace_lost_views_total', 'Views that the ledger did not record.');
  readonly countMissingSession = this.#createCounter(
    'marketplace_missing_sessions_total',
    'Requests for a session that should be live and is in no store. Should be zero.',
  );
  readonly countRequestTimeout = this.#createCounter(
    'marketplace_request_timeouts_total',
    'Requests past the deadline, on both listeners. They get 503.',
  );
  readonly countRequestError = this.#createCounter(
    'marketplace_request_errors_total',
    'Exceptions while handling requests, on both listeners. Unanswered requests get 500.',
  );
  readonly countForwardFailure = this.#createLabeledCounter(
    'marketplace_forward_failures_total',
    'Requests for another shard that got 503 on this shard, by reason.',
    'reason',
    forwardFailureReasons,
  );
  readonly countRelayedClick = this.#createCounter(
    'marketplace_relayed_clicks_total',
    'Clicks of an account of another shard that this shard redirected, because the other shard did not answer.',
  );
  readonly countMatchWorkerFailure = this.#createCounter(
    'marketplace_match_worker_failures_total',
    'Matching threads that exited or could not start. They are restarted.',
  );
  readonly countAggregatorRestart = this.#createCounter(
    'marketplace_aggregator_restarts_total',
    'Restarts of the aggregator after an exit.',
  );
  readonly countAnalyticsRebuild = this.#createCounter(
    'marketplace_analytics_rebuilds_total',
    'Rebuilds of the analytics store from the ledger.',
  );

  /** @param routes route names of `RequestCounter` */
  constructor(routes: readonly string[]) {
    this.requests = new RequestCounter(routes);
    this.#registerRequestMetrics(routes);
    this.#registerEventLogMetrics();
    this.registry.registerHistogram(
      'marketplace_match_batch_requests',
      'Requests sent to a matching thread in one batch.',
      this.#batchRequests,
    );
    for (const outcome of confirmationOutcomes) this.#confirmations.inc({ outcome }, 0);
    registerProcessMetrics(this.registry);
  }

  readonly countWidgetEvents = (types: readonly string[]): void => {
    for (const type of types) this.#countWidgetEvent(type);
  };
  readonly countAuthRefusal = (reason: AuthRefusal): void => {
    this.#authRefusals.set(reason, (this.#authRefusals.get(reason) ?? 0) + 1);
  };
  readonly observeMatchBatch = (requests: number): void => this.#batchRequests.observe(requests);

  /** Counts the rows of a batch of confirmations. */
  readonly countConfirmations = (counts: Readonly<Record<ConfirmationOutcome, number>>): void => {
    for (const outcome of confirmationOutcomes) this.#confirmations.inc({ outcome }, counts[outcome]);
  };

  countEventLogIncident(log: EventLogName, kind: EventLogIncidentKind): void {
    this.#logIncidents.inc({ log, kind });
  }

  /** Returns the `onGroupStored` callback of a log, which records the size and the write duration of each group of log records. */
  createEventLogWriteObserver(log: EventLogName): (records: number, bytes: number, elapsedUs: number) => void {
    const series = eventLogNames.indexOf(log);
    return (records, bytes, elapsedUs) => {
      this.#groupRecords.observe(records, series);
      this.#groupBytes.observe(bytes, series);
      this.#logWriteDurations.observe(elapsedUs, series);
    };
  }

  #createCounter(name: string, help: string): () => void {
    const counter = this.registry.createCounter(name, help);
    return () => counter.inc();
  }

  /**
   * Returns a function that counts one event with a label value. The known values start at 0, because Prometheus detects no increase if a
   * counter first appears with its first event.
   */
  #createLabeledCounter<Value extends string>(
    name: string,
    help: string,
    label: string,
    known: readonly Value[] = [],
  ): (value: Value) => void {
    const counter = this.registry.createCounter(name, help, [label]);
    for (const value of known) counter.inc({ [label]: value }, 0);
    return (value) => counter.inc({ [label]: value });
  }

  #registerRequestMetrics(routes: readonly string[]): void {
    const { requests } = this;
    this.registry.registerCounter(
      'marketplace_requests_total',
      'Requests answered on the public listener, by route and status.',
      () => [...requests.counts()].map(({ route, status, count }) => ({ labels: { route, status }, value: count })),
      ['route', 'status'],
    );
    this.registry.registerHistogram(
      'marketplace_request_duration_seconds',
      'Time from the request head to the reply on the public listener, by route.',
      requests.durations,
      { label: 'route', values: routes },
    );
    this.registry.registerCounter(
      'marketplace_rate_limited_requests_total',
      'Requests rejected by a rate limit: per minute, analytics queries per minute, or sessions per day.',
      () => rateLimitKinds.map((limit) => ({ labels: { limit }, value: this.#authRefusals.get(limit) ?? 0 })),
      ['limit'],
    );
    this.registry.registerCounter(
      'marketplace_unauthorized_requests_total',
      "Requests rejected for a missing, invalid or other vertical's API key.",
      () => unauthorizedKinds.map((reason) => ({ labels: { reason }, value: this.#authRefusals.get(reason) ?? 0 })),
      ['reason'],
    );
  }

  #registerEventLogMetrics(): void {
    const series = { label: 'log', values: eventLogNames };
    for (const [name, help, histogram] of [
      ['marketplace_log_group_records', 'Records written together, by log.', this.#groupRecords],
      ['marketplace_log_group_bytes', 'Bytes written together, by log.', this.#groupBytes],
      ['marketplace_log_write_duration_seconds', 'Time to write and sync one group, by log.', this.#logWriteDurations],
    ] as const) {
      this.registry.registerHistogram(name, help, histogram, series);
    }
    for (const log of eventLogNames) for (const kind of incidentKinds) this.#logIncidents.inc({ log, kind }, 0);
  }
}
