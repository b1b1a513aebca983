import { BucketTally } from './bucket-tally.ts';
import { Figures } from './figures.ts';
import { type LogName, type LogTroubleKind, logNames, logTroubles } from './log-names.ts';
import { addProcessFigures } from './process-figures.ts';
import { RequestTally } from './request-tally.ts';
import { batchRequests, groupBytes, groupRecords, storeDurations } from './scales.ts';
import { addWatched, type Watched } from './watched.ts';

const limits = ['minute', 'analytics', 'day'] as const;
const wants = ['unauthorized', 'vertical_mismatch'] as const;

/** Why a request got no further than the gate: by what it lacked, or by which of the limits. */
export type GateRefusal = (typeof limits)[number] | (typeof wants)[number];

/**
 * What happens in a service, counted for its operator from the first moment on; `watch` adds what is read where it is kept.
 * What happens often is counted in arrays, which are read when a scrape asks; only rare events are counted by the library.
 */
export class Metrics {
  readonly requests: RequestTally;
  readonly #figures = new Figures();
  readonly #refusals: Record<GateRefusal, number> = {
    minute: 0,
    analytics: 0,
    day: 0,
    unauthorized: 0,
    vertical_mismatch: 0,
  };
  readonly #groupRecords = new BucketTally(groupRecords, logNames.length);
  readonly #groupBytes = new BucketTally(groupBytes, logNames.length);
  readonly #storeDurations = new BucketTally(storeDurations, logNames.length);
  readonly #batchRequests = new BucketTally(batchRequests);
  readonly #clicksUnrecorded = this.#figures.counter(
    'marketplace_clicks_unrecorded_total',
    'Clicks redirected before their record was durable, or without one.',
  );
  readonly #viewsLost = this.#figures.counter(
    'marketplace_views_lost_total',
    'Views answered that the ledger could not take.',
  );
  readonly #sessionsMissing = this.#figures.counter(
    'marketplace_sessions_missing_total',
    'Requests for a session that should be live and is in no store. Should stay at zero.',
  );
  readonly #widgetEvents = this.#figures.counter(
    'marketplace_widget_events_total',
    'Events that widgets told and the ledger took, by type.',
    ['type'],
  );
  readonly #deadlines = this.#figures.counter(
    'marketplace_deadlines_total',
    'Requests answered 503 because they took too long, on either listener.',
  );
  readonly #faults = this.#figures.counter(
    'marketplace_faults_total',
    'Faults while a request was handled, on either listener: answered 500 unless the answer had left.',
  );
  readonly #logTroubles = this.#figures.counter(
    'marketplace_log_troubles_total',
    'What went wrong with a log, by log and kind.',
    ['log', 'kind'],
  );
  readonly #matchWorkerFailures = this.#figures.counter(
    'marketplace_match_worker_failures_total',
    'Matching workers that died, at work or idle, or could not be made ready; they are replaced.',
  );
  readonly #aggregatorRestarts = this.#figures.counter(
    'marketplace_aggregator_restarts_total',
    'Times the aggregator died and was started again.',
  );
  readonly #analyticsRebuilds = this.#figures.counter(
    'marketplace_analytics_rebuilds_total',
    'Times the analytics were derived from the start of the ledger again.',
  );

  /** @param routes what requests are told apart by; see `RequestTally` */
  constructor(routes: readonly string[]) {
    this.requests = new RequestTally(routes);
    this.#addRequests(routes);
    this.#addLogs();
    this.#figures.histogram(
      'marketplace_match_batch_requests',
      'Requests that travelled to a matching worker together.',
      this.#batchRequests,
    );
    addProcessFigures(this.#figures);
  }

  /** Once, when everything that is read is there. */
  watch(watched: Watched): void {
    addWatched(this.#figures, watched);
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

  readonly contentType = this.#figures.contentType;

  /** All of it in the Prometheus text format. */
  render(): Promise<string> {
    return this.#figures.render();
  }

  #addRequests(routes: readonly string[]): void {
    const { requests } = this;
    this.#figures.counted(
      'marketplace_requests_total',
      'Requests answered on the public listener, by route and status.',
      ['route', 'status'],
      () => [...requests.answered()].map(({ route, status, count }) => ({ labels: { route, status }, value: count })),
    );
    this.#figures.histogram(
      'marketplace_request_duration_seconds',
      "From a request's head to its answer, on the public listener, by route.",
      requests.durations,
      { label: 'route', values: routes },
    );
    this.#figures.counted(
      'marketplace_limit_refusals_total',
      "Requests refused by a key's limit: of a minute, of analytics queries in a minute, of sessions in a day.",
      ['limit'],
      () => limits.map((limit) => ({ labels: { limit }, value: this.#refusals[limit] })),
    );
    this.#figures.counted(
      'marketplace_authorization_refusals_total',
      'Requests refused for want of a valid key, or with a key of another vertical.',
      ['reason'],
      () => wants.map((reason) => ({ labels: { reason }, value: this.#refusals[reason] })),
    );
  }

  #addLogs(): void {
    const series = { label: 'log', values: logNames };
    this.#figures.histogram(
      'marketplace_log_group_records',
      'Records written together, by log.',
      this.#groupRecords,
      series,
    );
    this.#figures.histogram('marketplace_log_group_bytes', 'Bytes written together, by log.', this.#groupBytes, series);
    this.#figures.histogram(
      'marketplace_log_store_duration_seconds',
      'Time to write and sync one group, by log.',
      this.#storeDurations,
      series,
    );
    // A counter that first appears with its first event shows a reader no increase.
    for (const log of logNames) for (const kind of logTroubles) this.#logTroubles.inc({ log, kind }, 0);
  }
}
