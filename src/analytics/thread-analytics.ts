import { Worker } from 'node:worker_threads';
import { bounds } from '../bounds.ts';
import type { PayoutKey, PayoutStateReader, PayoutStateWithLender } from '../confirmations/payout-state.ts';
import type { CancelSignal } from '../domain/async.ts';
import type { DataFiles } from '../files/data-files.ts';
import type { Ledger } from '../ledger/ledger.ts';
import {
  type AggregatorQuery,
  type AggregatorResults,
  type AggregatorWorkerData,
  type MessageFromAggregator,
  type MessageToAggregator,
  packQuery,
} from './aggregator-protocol.ts';
import {
  type Analytics,
  AnalyticsUnavailable,
  type CohortQuery,
  type DailyResult,
  type RowsPage,
  type RowsQuery,
  type SummaryQuery,
  type SummaryResult,
} from './analytics.ts';
import type { RetentionOutcome } from './ledger-follower.ts';
import type { ProjectionTotals } from './ledger-projection.ts';
import type { ExperimentRow } from './session-reader.ts';
import { AnalyticsLag, SharedProgress } from './shared-progress.ts';
import type { RetentionRequest } from './store-retention.ts';

export interface ThreadAnalyticsOptions {
  /** The folder of the store's file exists. */
  readonly files: DataFiles;
  readonly log: Pick<Ledger, 'appendedPosition' | 'durablePosition' | 'healthy'>;
  /** The thread died and will be started again. */
  readonly onCrash?: (error: Error) => void;
  /** A thread that was started again after a death takes questions. */
  readonly onRecovered?: () => void;
  /** The store is derived again from the ledger's start, and why. */
  readonly onRebuild?: (reason: string) => void;
  /** The rebuilt store has caught up with the ledger. */
  readonly onRebuilt?: () => void;
}

/** Analytics whose figures are kept by a thread of its own. */
export interface ThreadAnalytics extends Analytics, PayoutStateReader {
  /** To be called whenever more of the log is durable (`EventLog.onDurable`). */
  onLedgerDurable(position: number): void;
  /** For how long the oldest record has been durable that is not in the counters; milliseconds, 0 when all are. */
  readonly lagMs: number;
  /** How many records counted nothing, and why. Rejects as `summary` does. */
  getTotals(): Promise<ProjectionTotals>;
  /** The same of what is counted so far, however far behind that is. */
  getCurrentTotals(): Promise<ProjectionTotals>;
  /** A page of the experiments, as `ExperimentsReader.page`. Rejects as `summary` does. */
  listExperiments(after: number): Promise<readonly ExperimentRow[]>;
  /**
   * Gives up the sessions of a certain age, once all that was appended before is counted: their daily counters are sealed,
   * they themselves are in no answer any more. Rejects as `summary` does; then it may happen all the same, and may be asked
   * for again.
   */
  applyRetention(age: RetentionRequest): Promise<RetentionOutcome>;
}

/** Starts the thread; resolves once it takes questions. Rejects when the store cannot be opened, leaving nothing running. */
export async function startThreadAnalytics(options: ThreadAnalyticsOptions): Promise<ThreadAnalytics> {
  const analytics = new AggregatorThread(options);
  await analytics.started;
  return analytics;
}

interface PendingQuery {
  readonly position: number;
  readonly query: AggregatorQuery;
  readonly signal: CancelSignal | null;
  readonly resolve: (answer: AggregatorResults[AggregatorQuery['kind']]) => void;
  readonly reject: (error: Error) => void;
  readonly deadline: NodeJS.Timeout;
}

/**
 *     starting --ready--> up --exit--> down --pause--> starting        any of them --close--> closed
 *
 * Questions are taken while the thread is up. One whose position is not durable yet is held here until it is, and so is one for
 * which the thread has too many before it: whoever asked may give up meanwhile, and the thread is spared the work. When the thread
 * dies, questions are refused, not asked again: their askers have deadlines of their own.
 */
class AggregatorThread implements ThreadAnalytics {
  readonly started: Promise<void>;
  readonly #options: ThreadAnalyticsOptions;
  readonly #progress = new SharedProgress();
  readonly #lag = new AnalyticsLag();
  #state: 'starting' | 'up' | 'down' | 'closed' = 'starting';
  #worker!: Worker;
  #exited!: Promise<void>;
  #restartTimer: NodeJS.Timeout | null = null;
  #restartDelayMs: number = bounds.aggregatorRestartDelayMinMs;
  #lastId = 0;
  readonly #queuedQueries = new Map<number, PendingQuery>();
  /** With the thread. One past its deadline stays here until the thread has dealt with it, so that this bounds its queue. */
  readonly #sentQueries = new Map<number, PendingQuery>();
  #closing: Promise<void> | null = null;

  constructor(options: ThreadAnalyticsOptions) {
    this.#options = options;
    this.#progress.durablePosition = options.log.durablePosition;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.started = promise;
    this.#startWorker(resolve, (error) => {
      this.#state = 'closed';
      reject(error);
    });
  }

  get projectedPosition(): number {
    return this.#progress.projectedPosition;
  }

  get healthy(): boolean {
    return this.#state === 'up';
  }

  get lagMs(): number {
    const { durablePosition, projectedPosition } = this.#progress;
    return this.#lag.measureMs(durablePosition, projectedPosition, performance.now());
  }

  onLedgerDurable(position: number): void {
    this.#progress.durablePosition = position;
    this.#lag.recordPosition(position, this.#progress.projectedPosition, performance.now());
    if (this.#progress.claimWakeUp()) this.#post({ kind: 'wake' });
    this.#sendQueued();
  }

  async getSummary(query: SummaryQuery, signal: CancelSignal | null = null): Promise<SummaryResult> {
    assertFilter(query);
    return this.#query({ kind: 'summary', query: packQuery(query) }, { signal }) as Promise<SummaryResult>;
  }

  findPayoutStates(
    asked: readonly PayoutKey[],
    signal: CancelSignal | null = null,
  ): Promise<readonly PayoutStateWithLender[]> {
    // Named one by one: whatever else the caller's objects hold need not cross to the thread.
    const named = asked.map(({ sub, offerId, txid }) => ({ sub, offerId, txid }));
    return this.#query({ kind: 'payouts', asked: named }, { signal }) as Promise<readonly PayoutStateWithLender[]>;
  }

  async listDays(query: SummaryQuery, signal: CancelSignal | null = null): Promise<DailyResult> {
    assertFilter(query);
    return this.#query({ kind: 'daily', query: packQuery(query) }, { signal }) as Promise<DailyResult>;
  }

  async listRows(query: RowsQuery, signal: CancelSignal | null = null): Promise<RowsPage> {
    assertFilter(query);
    return this.#query({ kind: 'rows', query: packQuery(query) }, { signal }) as Promise<RowsPage>;
  }

  getTotals(): Promise<ProjectionTotals> {
    return this.#query({ kind: 'totals' }) as Promise<ProjectionTotals>;
  }

  getCurrentTotals(): Promise<ProjectionTotals> {
    return this.#query({ kind: 'totals' }, { soFar: true }) as Promise<ProjectionTotals>;
  }

  listExperiments(after: number): Promise<readonly ExperimentRow[]> {
    return this.#query({ kind: 'experiments', after }) as Promise<readonly ExperimentRow[]>;
  }

  applyRetention(age: RetentionRequest): Promise<RetentionOutcome> {
    return this.#query({ kind: 'seal', age }) as Promise<RetentionOutcome>;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** @param soFar ask what is counted by now; otherwise the last record appended must be counted */
  #query(
    query: AggregatorQuery,
    { soFar = false, signal = null }: { readonly soFar?: boolean; readonly signal?: CancelSignal | null } = {},
  ): Promise<AggregatorResults[AggregatorQuery['kind']]> {
    if (this.#state !== 'up') return Promise.reject(new AnalyticsUnavailable('the aggregator is not running'));
    if (this.#queuedQueries.size + this.#sentQueries.size >= bounds.analyticsQueueQueriesMax) {
      return Promise.reject(new AnalyticsUnavailable('too many questions are waiting'));
    }
    const { log } = this.#options;
    // What became durable before this was hooked to the log was told to nobody.
    if (log.durablePosition > this.#progress.durablePosition) this.onLedgerDurable(log.durablePosition);
    // While the log cannot write, what it took may never become durable; everything that was acknowledged is.
    const position = soFar ? 0 : log.healthy ? log.appendedPosition : log.durablePosition;
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<AggregatorResults[AggregatorQuery['kind']]>();
    const deadline = setTimeout(() => {
      this.#queuedQueries.delete(id);
      reject(new AnalyticsUnavailable('the figures did not catch up in time'));
    }, bounds.analyticsQueryTimeoutMs);
    const asked: PendingQuery = { position, query, signal, resolve, reject, deadline };
    if (soFar) {
      // Answered between two batches, however far behind the thread is.
      this.#send(id, asked);
    } else {
      this.#queuedQueries.set(id, asked);
      this.#sendQueued();
    }
    return promise;
  }

  #sendQueued(): void {
    const { durablePosition } = this.#progress;
    for (const [id, held] of this.#queuedQueries) {
      if (this.#sentQueries.size >= bounds.analyticsQueriesInFlightMax) return;
      if (held.position > durablePosition) continue;
      this.#queuedQueries.delete(id);
      if (held.signal?.ended) {
        clearTimeout(held.deadline);
        held.reject(new AnalyticsUnavailable('whoever asked no longer waits'));
      } else {
        this.#send(id, held);
      }
    }
  }

  #send(id: number, asked: PendingQuery): void {
    this.#sentQueries.set(id, asked);
    this.#post({ kind: 'ask', id, position: asked.position, question: asked.query });
  }

  #post(message: MessageToAggregator): void {
    this.#worker.postMessage(message);
  }

  /** `failed` is called instead of a restart when the thread ends before it was ready. */
  #startWorker(ready?: () => void, failed?: (error: Error) => void): void {
    const { files, onCrash, onRecovered, onRebuild, onRebuilt } = this.#options;
    const setup: AggregatorWorkerData = { files, progress: this.#progress.buffer };
    const startedAt = this.#progress.projectedPosition;
    let cause: Error | null = null;
    this.#state = 'starting';
    this.#worker = new Worker(new URL('../../workers/aggregator.ts', import.meta.url), {
      workerData: setup,
      name: 'aggregator',
      resourceLimits: { maxOldGenerationSizeMb: bounds.aggregatorHeapMegabytes },
    });
    this.#worker.on('message', (message: MessageFromAggregator) => {
      switch (message.kind) {
        case 'ready':
          if (this.#state !== 'starting') return;
          this.#state = 'up';
          if (ready !== undefined) ready();
          else onRecovered?.();
          break;
        case 'rebuild':
          onRebuild?.(message.reason);
          break;
        case 'rebuilt':
          onRebuilt?.();
          break;
        case 'answer': {
          const asked = this.#sentQueries.get(message.id);
          if (asked === undefined) return;
          this.#sentQueries.delete(message.id);
          clearTimeout(asked.deadline);
          asked.resolve(message.answer);
          this.#sendQueued();
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
        const error = cause ?? new Error(`the aggregator thread ended with code ${code}`);
        if (this.#state === 'starting' && failed !== undefined) {
          failed(error);
          return;
        }
        this.#state = 'down';
        this.#rejectAll('the aggregator has died');
        if (this.#progress.projectedPosition > startedAt) this.#restartDelayMs = bounds.aggregatorRestartDelayMinMs;
        this.#restartTimer = setTimeout(() => this.#startWorker(), this.#restartDelayMs);
        this.#restartDelayMs = Math.min(this.#restartDelayMs * 2, bounds.aggregatorRestartDelayMaxMs);
        onCrash?.(error);
      });
    });
  }

  #rejectAll(reason: string): void {
    for (const questions of [this.#queuedQueries, this.#sentQueries]) {
      for (const asked of questions.values()) {
        clearTimeout(asked.deadline);
        asked.reject(new AnalyticsUnavailable(reason));
      }
      questions.clear();
    }
  }

  async #close(): Promise<void> {
    const running = this.#state === 'starting' || this.#state === 'up';
    this.#state = 'closed';
    if (this.#restartTimer !== null) clearTimeout(this.#restartTimer);
    this.#rejectAll('the aggregator is closed');
    if (!running) return;
    this.#post({ kind: 'close' });
    const worker = this.#worker;
    const overdue = setTimeout(() => worker.terminate(), bounds.aggregatorCloseTimeoutMs);
    await this.#exited;
    clearTimeout(overdue);
  }
}

function assertFilter({ referrerTag, subs }: CohortQuery): void {
  if (referrerTag === null && subs === null) throw new TypeError('a question needs a tag, ids, or both');
}
