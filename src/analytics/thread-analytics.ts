import { Worker } from 'node:worker_threads';
import { bounds } from '../bounds.ts';
import type { PayoutStateReader } from '../confirmations/payout-state.ts';
import type { CancelSignal } from '../domain/async.ts';
import type { DataPaths } from '../files/data-paths.ts';
import type { Ledger } from '../ledger/ledger.ts';
import {
  type AggregatorQuery,
  type AggregatorWorkerData,
  type MessageFromAggregator,
  type MessageToAggregator,
  packSubIds,
  type QueryName,
  type QueryResult,
} from './aggregator-protocol.ts';
import { type Analytics, AnalyticsUnavailableError } from './analytics.ts';
import type { HashExperimentsQuery } from './experiments/experiment-table.ts';
import { AggregatorProgress, AnalyticsLag } from './shared-progress.ts';
import type { RetentionRequest } from './store-retention.ts';

export interface AnalyticsThreadOptions {
  /** Paths of the ledger, the archive and the analytics store. The folder of the analytics store must exist. */
  readonly files: DataPaths;
  readonly log: Pick<Ledger, 'lastAppendedPosition' | 'durablePosition' | 'healthy'>;
  /** Called when the thread has exited unexpectedly and will be restarted. */
  readonly onCrash?: (error: Error) => void;
  readonly onRecovered?: () => void;
  /** Called when a rebuild of the store from the ledger starts. The argument `reason` explains why the store must be rebuilt. */
  readonly onRebuild?: (reason: string) => void;
  /** Called when the rebuilt store includes the whole ledger. */
  readonly onRebuilt?: () => void;
  /** Called if a store with outdated figures remains in use, because the archive lacks days that only this store has. */
  readonly onOutdated?: () => void;
}

interface PendingQuery {
  readonly position: number;
  readonly query: AggregatorQuery;
  /** Account of the caller; null for a query of the service or the operator. */
  readonly account: number | null;
  readonly signal: CancelSignal | null | undefined;
  /** Resolves the query with a result of type `QueryResult<typeof query.name>`. */
  readonly resolve: (result: QueryResult<QueryName>) => void;
  readonly reject: (error: Error) => void;
  readonly deadline: NodeJS.Timeout;
}

/**
 * Sends analytics queries to the aggregator thread, and restarts the thread after a crash.
 *
 *     starting --ready--> running --exit--> restarting --delay--> starting        any state --close--> closed
 *
 * Accepts queries while the thread is running. A query waits in a queue until all records appended before the query are durable. The thread
 * gets at most `bounds.analyticsQueriesInFlightMax` queries at a time, and few from one account, so that an account with many slow queries
 * does not make the others wait. A query that is cancelled while it is queued is never sent to the
 * thread. When the aggregator thread exits, all pending queries are rejected. After a restart, the rejected queries are not sent again,
 * because the deadline of their HTTP requests may have passed.
 */
export class ThreadAnalytics implements Analytics, PayoutStateReader {
  readonly #options: AnalyticsThreadOptions;
  readonly #progress = new AggregatorProgress();
  readonly #lag = new AnalyticsLag();
  #state: 'starting' | 'running' | 'restarting' | 'closed' = 'starting';
  #worker!: Worker;
  #exited!: Promise<void>;
  #restartTimer: NodeJS.Timeout | null = null;
  #restartDelayMs: number = bounds.aggregatorRestartDelayMinMs;
  #lastId = 0;
  readonly #queuedQueries = new Map<number, PendingQuery>();
  /** Queries that the thread has not answered yet, including queries that timed out. */
  readonly #sentQueries = new Map<number, PendingQuery>();
  #closing: Promise<void> | null = null;

  /** Starts the aggregator thread. Resolves when the thread accepts queries. Rejects if the store cannot be opened. */
  static async start(options: AnalyticsThreadOptions): Promise<ThreadAnalytics> {
    const analytics = new ThreadAnalytics(options);
    await new Promise<void>((resolve, reject) => analytics.#startWorker(resolve, reject));
    return analytics;
  }

  private constructor(options: AnalyticsThreadOptions) {
    this.#options = options;
    this.#progress.durablePosition = options.log.durablePosition;
  }

  get appliedPosition(): number {
    return this.#progress.appliedPosition;
  }

  get healthy(): boolean {
    return this.#state === 'running';
  }

  /** Time since the oldest record that is not applied yet became durable, in milliseconds; 0 if all durable records are applied. */
  get lagMs(): number {
    const { durablePosition, appliedPosition } = this.#progress;
    return this.#lag.measureLagMs(durablePosition, appliedPosition, performance.now());
  }

  /** Wakes the aggregator. Call this method whenever the durable position of the ledger increases. */
  onLedgerDurable(position: number): void {
    this.#progress.durablePosition = position;
    this.#lag.addLagSample(position, this.#progress.appliedPosition, performance.now());
    if (this.#progress.markAggregatorAwake()) this.#postMessage({ kind: 'wake' });
    this.#sendQueuedQueries();
  }

  readonly getSummary: Analytics['getSummary'] = async (query, signal) =>
    this.#query({ name: 'getSummary', parameter: packSubIds(query) }, { signal });

  readonly listDailyAnalytics: Analytics['listDailyAnalytics'] = async (query, signal) =>
    this.#query({ name: 'listDailyAnalytics', parameter: packSubIds(query) }, { signal });

  readonly listSessions: Analytics['listSessions'] = async (query, signal) =>
    this.#query({ name: 'listSessions', parameter: packSubIds(query) }, { signal });

  readonly listOffers: Analytics['listOffers'] = (query, signal) =>
    this.#query({ name: 'listOffers', parameter: query }, { signal });

  readonly listOfferTotals: Analytics['listOfferTotals'] = (query, signal) =>
    this.#query({ name: 'listOfferTotals', parameter: query }, { signal });

  readonly listTags: Analytics['listTags'] = (query, signal) =>
    this.#query({ name: 'listTags', parameter: query }, { signal });

  readonly findExperiment: Analytics['findExperiment'] = (query, signal) =>
    this.#query({ name: 'findExperiment', parameter: query }, { signal });

  readonly checkDefinition: Analytics['checkDefinition'] = (query, signal) =>
    this.#query({ name: 'checkDefinition', parameter: query }, { signal });

  readonly listExperiments: Analytics['listExperiments'] = (query, signal) =>
    this.#query({ name: 'listExperiments', parameter: query }, { signal });

  readonly getExperimentResults: Analytics['getExperimentResults'] = (query, signal) =>
    this.#query({ name: 'getExperimentResults', parameter: query }, { signal });

  readonly listExperimentUnits: Analytics['listExperimentUnits'] = (query, signal) =>
    this.#query({ name: 'listExperimentUnits', parameter: query }, { signal });

  readonly findPayoutStates: PayoutStateReader['findPayoutStates'] = (keys, signal) => {
    // Copies only the properties of `PayoutKey`, because an object in `keys` may have further properties, which the thread does not need.
    const parameter = keys.map(({ sub, offerId, txid }) => ({ sub, offerId, txid }));
    return this.#query({ name: 'findPayoutStates', parameter }, { signal });
  };

  /** Calls `AnalyticsStore.listNumberedTags`. */
  listNumberedTags(afterNumber: number): Promise<QueryResult<'listNumberedTags'>> {
    return this.#query({ name: 'listNumberedTags', parameter: afterNumber });
  }

  /** Calls `AnalyticsStore.listHashExperiments`. */
  listHashExperiments(query: HashExperimentsQuery): Promise<QueryResult<'listHashExperiments'>> {
    return this.#query({ name: 'listHashExperiments', parameter: query });
  }

  /** Returns the totals of all records that have been applied. Does not wait for appended records that are not applied yet. */
  getRecordCounts(): Promise<QueryResult<'getTotals'>> {
    return this.#query({ name: 'getTotals', parameter: undefined }, { currentOnly: true });
  }

  /** Calls `AnalyticsStore.countExperiments`. Does not wait for appended records that are not applied yet. */
  countExperiments(today: number): Promise<QueryResult<'countExperiments'>> {
    return this.#query({ name: 'countExperiments', parameter: today }, { currentOnly: true });
  }

  /** Calls `AnalyticsStore.applyRetention`. If the call rejects, the data may already be archived; calling again is safe. */
  applyRetention(request: RetentionRequest): Promise<QueryResult<'applyRetention'>> {
    return this.#query({ name: 'applyRetention', parameter: request });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /**
   * @param options if `currentOnly` is true, the query does not wait until the appended records are applied, so the result may lack recent
   * records
   */
  #query<Name extends QueryName>(
    query: AggregatorQuery & { readonly name: Name },
    options: { readonly currentOnly?: boolean; readonly signal?: CancelSignal | null | undefined } = {},
  ): Promise<QueryResult<Name>> {
    const { currentOnly = false, signal } = options;
    if (this.#state !== 'running')
      return Promise.reject(new AnalyticsUnavailableError('aggregator thread is not running'));
    if (this.#queuedQueries.size + this.#sentQueries.size >= bounds.analyticsQueueQueriesMax) {
      return Promise.reject(new AnalyticsUnavailableError('analytics query queue is full'));
    }
    const account = accountOf(query);
    if (account !== null && this.#countQueued(account) >= bounds.analyticsQueueQueriesPerAccountMax) {
      return Promise.reject(new AnalyticsUnavailableError('too many analytics queries of one account'));
    }
    const { log } = this.#options;
    // Records may have become durable before `onLedgerDurable` was registered as a callback of the ledger.
    if (log.durablePosition > this.#progress.durablePosition) this.onLedgerDurable(log.durablePosition);
    // If the ledger cannot be written, the query ignores records that are not durable yet, because they may never become durable.
    const position = currentOnly ? 0 : log.healthy ? log.lastAppendedPosition : log.durablePosition;
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<QueryResult<Name>>();
    const deadline = setTimeout(() => {
      this.#queuedQueries.delete(id);
      reject(new AnalyticsUnavailableError('analytics query timed out'));
    }, bounds.analyticsQueryTimeoutMs);
    const pending = { position, query, account, signal, resolve: resolve as PendingQuery['resolve'], reject, deadline };
    if (currentOnly) {
      this.#sendMessage(id, pending);
    } else {
      this.#queuedQueries.set(id, pending);
      this.#sendQueuedQueries();
    }
    return promise;
  }

  #sendQueuedQueries(): void {
    if (this.#queuedQueries.size === 0) return;
    const { durablePosition } = this.#progress;
    const sentByAccount = countByAccount(this.#sentQueries);
    for (const [id, pending] of this.#queuedQueries) {
      if (this.#sentQueries.size >= bounds.analyticsQueriesInFlightMax) return;
      if (pending.position > durablePosition) continue;
      const { account } = pending;
      const sentOfAccount = account === null ? 0 : (sentByAccount.get(account) ?? 0);
      if (sentOfAccount >= bounds.analyticsQueriesInFlightPerAccountMax && !pending.signal?.ended) continue;
      this.#queuedQueries.delete(id);
      if (pending.signal?.ended) {
        clearTimeout(pending.deadline);
        pending.reject(new AnalyticsUnavailableError('analytics query cancelled by the caller'));
      } else {
        if (account !== null) sentByAccount.set(account, sentOfAccount + 1);
        this.#sendMessage(id, pending);
      }
    }
  }

  #countQueued(account: number): number {
    if (this.#queuedQueries.size < bounds.analyticsQueueQueriesPerAccountMax) return 0;
    return countByAccount(this.#queuedQueries).get(account) ?? 0;
  }

  #sendMessage(id: number, pending: PendingQuery): void {
    this.#sentQueries.set(id, pending);
    this.#postMessage({ kind: 'query', id, position: pending.position, query: pending.query });
  }

  #postMessage(message: MessageToAggregator): void {
    this.#worker.postMessage(message);
  }

  /** @param failed called if the thread exits before it sends the message `ready`; if omitted, the thread is restarted instead */
  #startWorker(ready?: () => void, failed?: (error: Error) => void): void {
    const { files, onCrash, onRecovered, onRebuild, onRebuilt, onOutdated } = this.#options;
    const workerData: AggregatorWorkerData = { files, progress: this.#progress.buffer };
    const startPosition = this.#progress.appliedPosition;
    let cause: Error | null = null;
    this.#state = 'starting';
    this.#worker = new Worker(new URL('../../workers/aggregator.ts', import.meta.url), {
      workerData,
      name: 'aggregator',
      resourceLimits: { maxOldGenerationSizeMb: bounds.aggregatorHeapMegabytes },
    });
    this.#worker.on('message', (message: MessageFromAggregator) => {
      switch (message.kind) {
        case 'ready':
          if (this.#state !== 'starting') return;
          this.#state = 'running';
          if (ready !== undefined) ready();
          else onRecovered?.();
          break;
        case 'rebuild':
          onRebuild?.(message.reason);
          break;
        case 'rebuilt':
          onRebuilt?.();
          break;
        case 'outdated':
          onOutdated?.();
          break;
        case 'result': {
          const pending = this.#sentQueries.get(message.id);
          if (pending === undefined) return;
          this.#sentQueries.delete(message.id);
          clearTimeout(pending.deadline);
          pending.resolve(message.result);
          this.#sendQueuedQueries();
          break;
        }
      }
    });
    this.#worker.on('error', (error) => {
      cause = error instanceof Error ? error : new Error(String(error));
    });
    this.#exited = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        resolve();
        if (this.#state === 'closed') return;
        const error = cause ?? new Error(`aggregator thread exited with code ${code}`);
        if (this.#state === 'starting' && failed !== undefined) {
          this.#state = 'closed';
          failed(error);
          return;
        }
        this.#state = 'restarting';
        this.#rejectAllQueries('aggregator thread exited');
        if (this.#progress.appliedPosition > startPosition) this.#restartDelayMs = bounds.aggregatorRestartDelayMinMs;
        this.#restartTimer = setTimeout(() => this.#startWorker(), this.#restartDelayMs);
        this.#restartDelayMs = Math.min(this.#restartDelayMs * 2, bounds.aggregatorRestartDelayMaxMs);
        onCrash?.(error);
      });
    });
  }

  #rejectAllQueries(reason: string): void {
    for (const queries of [this.#queuedQueries, this.#sentQueries]) {
      for (const { deadline, reject } of queries.values()) {
        clearTimeout(deadline);
        reject(new AnalyticsUnavailableError(reason));
      }
      queries.clear();
    }
  }

  async #close(): Promise<void> {
    const isRunning = this.#state === 'starting' || this.#state === 'running';
    this.#state = 'closed';
    if (this.#restartTimer !== null) clearTimeout(this.#restartTimer);
    this.#rejectAllQueries('analytics is closed');
    if (!isRunning) return;
    this.#postMessage({ kind: 'close' });
    const worker = this.#worker;
    const closeTimer = setTimeout(() => worker.terminate(), bounds.aggregatorCloseTimeoutMs);
    await this.#exited;
    clearTimeout(closeTimer);
  }
}

/** Returns the account of the parameter of a query; null for a query of the service or the operator. */
function accountOf({ parameter }: AggregatorQuery): number | null {
  return typeof parameter === 'object' && 'account' in parameter ? parameter.account : null;
}

function countByAccount(queries: ReadonlyMap<number, PendingQuery>): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { account } of queries.values()) if (account !== null) counts.set(account, (counts.get(account) ?? 0) + 1);
  return counts;
}
