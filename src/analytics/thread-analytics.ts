import { Worker } from 'node:worker_threads';
import { bounds } from '../bounds.ts';
import type { AskedPayout, ConfirmationHistory, KnownPayout } from '../confirmations/confirmation-history.ts';
import type { CancelSignal } from '../domain/cancel-signal.ts';
import type { EventLog } from '../events/event-log.ts';
import {
  type AggregatorSetup,
  type Answers,
  type FromAggregator,
  packQuery,
  type Question,
  type ToAggregator,
} from './aggregator-protocol.ts';
import {
  type Analytics,
  AnalyticsUnavailable,
  type CohortQuery,
  type DailyFigures,
  type RowsPage,
  type RowsQuery,
  type SummaryFigures,
  type SummaryQuery,
} from './analytics.ts';
import type { AnalyticsFiles } from './analytics-files.ts';
import type { ExperimentRow } from './experiments-reader.ts';
import { FoldLag } from './fold-lag.ts';
import type { FoldTotals } from './ledger-fold.ts';
import type { SealOutcome } from './ledger-follower.ts';
import { SharedProgress } from './shared-progress.ts';
import type { Age } from './store-retention.ts';

export interface ThreadAnalyticsOptions {
  /** The folder of the store's file exists. */
  readonly files: AnalyticsFiles;
  readonly log: Pick<EventLog, 'appendedPosition' | 'durablePosition' | 'healthy'>;
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
export interface ThreadAnalytics extends Analytics, ConfirmationHistory {
  /** To be called whenever more of the log is durable (`EventLog.onDurable`). */
  durable(position: number): void;
  /** For how long the oldest record has been durable that is not in the counters; milliseconds, 0 when all are. */
  readonly lagMs: number;
  /** How many records counted nothing, and why. Rejects as `summary` does. */
  totals(): Promise<FoldTotals>;
  /** The same of what is counted so far, however far behind that is. */
  totalsSoFar(): Promise<FoldTotals>;
  /** A page of the experiments, as `ExperimentsReader.page`. Rejects as `summary` does. */
  experiments(after: number): Promise<readonly ExperimentRow[]>;
  /**
   * Gives up the sessions of a certain age, once all that was appended before is counted: their daily counters are sealed,
   * they themselves are in no answer any more. Rejects as `summary` does; then it may happen all the same, and may be asked
   * for again.
   */
  seal(age: Age): Promise<SealOutcome>;
}

/** Starts the thread; resolves once it takes questions. Rejects when the store cannot be opened, leaving nothing running. */
export async function startThreadAnalytics(options: ThreadAnalyticsOptions): Promise<ThreadAnalytics> {
  const analytics = new AggregatorThread(options);
  await analytics.started;
  return analytics;
}

interface Asked {
  readonly position: number;
  readonly question: Question;
  readonly signal: CancelSignal | null;
  readonly resolve: (answer: Answers[Question['kind']]) => void;
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
  readonly #lag = new FoldLag();
  #state: 'starting' | 'up' | 'down' | 'closed' = 'starting';
  #worker!: Worker;
  #exited!: Promise<void>;
  #restart: NodeJS.Timeout | null = null;
  #pauseMs: number = bounds.aggregatorRestartMinMs;
  #lastId = 0;
  readonly #held = new Map<number, Asked>();
  /** With the thread. One past its deadline stays here until the thread has dealt with it, so that this bounds its queue. */
  readonly #asked = new Map<number, Asked>();
  #closing: Promise<void> | null = null;

  constructor(options: ThreadAnalyticsOptions) {
    this.#options = options;
    this.#progress.durablePosition = options.log.durablePosition;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.started = promise;
    this.#start(resolve, (error) => {
      this.#state = 'closed';
      reject(error);
    });
  }

  get foldedPosition(): number {
    return this.#progress.foldedPosition;
  }

  get healthy(): boolean {
    return this.#state === 'up';
  }

  get lagMs(): number {
    const { durablePosition, foldedPosition } = this.#progress;
    return this.#lag.read(durablePosition, foldedPosition, performance.now());
  }

  durable(position: number): void {
    this.#progress.durablePosition = position;
    this.#lag.note(position, this.#progress.foldedPosition, performance.now());
    if (this.#progress.claimWaking()) this.#tell({ kind: 'wake' });
    this.#sendHeld();
  }

  async summary(query: SummaryQuery, signal: CancelSignal | null = null): Promise<SummaryFigures> {
    requireFilter(query);
    return this.#ask({ kind: 'summary', query: packQuery(query) }, { signal }) as Promise<SummaryFigures>;
  }

  knownPayouts(asked: readonly AskedPayout[], signal: CancelSignal | null = null): Promise<readonly KnownPayout[]> {
    // Named one by one: whatever else the caller's objects hold need not cross to the thread.
    const named = asked.map(({ sub, offerId, txid }) => ({ sub, offerId, txid }));
    return this.#ask({ kind: 'payouts', asked: named }, { signal }) as Promise<readonly KnownPayout[]>;
  }

  async daily(query: SummaryQuery, signal: CancelSignal | null = null): Promise<DailyFigures> {
    requireFilter(query);
    return this.#ask({ kind: 'daily', query: packQuery(query) }, { signal }) as Promise<DailyFigures>;
  }

  async rows(query: RowsQuery, signal: CancelSignal | null = null): Promise<RowsPage> {
    requireFilter(query);
    return this.#ask({ kind: 'rows', query: packQuery(query) }, { signal }) as Promise<RowsPage>;
  }

  totals(): Promise<FoldTotals> {
    return this.#ask({ kind: 'totals' }) as Promise<FoldTotals>;
  }

  totalsSoFar(): Promise<FoldTotals> {
    return this.#ask({ kind: 'totals' }, { soFar: true }) as Promise<FoldTotals>;
  }

  experiments(after: number): Promise<readonly ExperimentRow[]> {
    return this.#ask({ kind: 'experiments', after }) as Promise<readonly ExperimentRow[]>;
  }

  seal(age: Age): Promise<SealOutcome> {
    return this.#ask({ kind: 'seal', age }) as Promise<SealOutcome>;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** @param soFar ask what is counted by now; otherwise the last record appended must be counted */
  #ask(
    question: Question,
    { soFar = false, signal = null }: { readonly soFar?: boolean; readonly signal?: CancelSignal | null } = {},
  ): Promise<Answers[Question['kind']]> {
    if (this.#state !== 'up') return Promise.reject(new AnalyticsUnavailable('the aggregator is not running'));
    if (this.#held.size + this.#asked.size >= bounds.analyticsQueueMax) {
      return Promise.reject(new AnalyticsUnavailable('too many questions are waiting'));
    }
    const { log } = this.#options;
    // What became durable before this was hooked to the log was told to nobody.
    if (log.durablePosition > this.#progress.durablePosition) this.durable(log.durablePosition);
    // While the log cannot write, what it took may never become durable; everything that was acknowledged is.
    const position = soFar ? 0 : log.healthy ? log.appendedPosition : log.durablePosition;
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<Answers[Question['kind']]>();
    const deadline = setTimeout(() => {
      this.#held.delete(id);
      reject(new AnalyticsUnavailable('the figures did not catch up in time'));
    }, bounds.analyticsAnswerMs);
    const asked: Asked = { position, question, signal, resolve, reject, deadline };
    if (soFar) {
      // Answered between two batches, however far behind the thread is.
      this.#send(id, asked);
    } else {
      this.#held.set(id, asked);
      this.#sendHeld();
    }
    return promise;
  }

  #sendHeld(): void {
    const { durablePosition } = this.#progress;
    for (const [id, held] of this.#held) {
      if (this.#asked.size >= bounds.analyticsQuestionsSentMax) return;
      if (held.position > durablePosition) continue;
      this.#held.delete(id);
      if (held.signal?.over) {
        clearTimeout(held.deadline);
        held.reject(new AnalyticsUnavailable('whoever asked no longer waits'));
      } else {
        this.#send(id, held);
      }
    }
  }

  #send(id: number, asked: Asked): void {
    this.#asked.set(id, asked);
    this.#tell({ kind: 'ask', id, position: asked.position, question: asked.question });
  }

  #tell(message: ToAggregator): void {
    this.#worker.postMessage(message);
  }

  /** `failed` is called instead of a restart when the thread ends before it was ready. */
  #start(ready?: () => void, failed?: (error: Error) => void): void {
    const { files, onCrash, onRecovered, onRebuild, onRebuilt } = this.#options;
    const setup: AggregatorSetup = { files, progress: this.#progress.buffer };
    const startedAt = this.#progress.foldedPosition;
    let cause: Error | null = null;
    this.#state = 'starting';
    this.#worker = new Worker(new URL('../../workers/aggregator.ts', import.meta.url), {
      workerData: setup,
      name: 'aggregator',
      resourceLimits: { maxOldGenerationSizeMb: bounds.aggregatorHeapMegabytes },
    });
    this.#worker.on('message', (message: FromAggregator) => {
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
          const asked = this.#asked.get(message.id);
          if (asked === undefined) return;
          this.#asked.delete(message.id);
          clearTimeout(asked.deadline);
          asked.resolve(message.answer);
          this.#sendHeld();
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
        this.#refuseAll('the aggregator has died');
        if (this.#progress.foldedPosition > startedAt) this.#pauseMs = bounds.aggregatorRestartMinMs;
        this.#restart = setTimeout(() => this.#start(), this.#pauseMs);
        this.#pauseMs = Math.min(this.#pauseMs * 2, bounds.aggregatorRestartMaxMs);
        onCrash?.(error);
      });
    });
  }

  #refuseAll(reason: string): void {
    for (const questions of [this.#held, this.#asked]) {
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
    if (this.#restart !== null) clearTimeout(this.#restart);
    this.#refuseAll('the aggregator is closed');
    if (!running) return;
    this.#tell({ kind: 'close' });
    const worker = this.#worker;
    const overdue = setTimeout(() => worker.terminate(), bounds.aggregatorCloseMs);
    await this.#exited;
    clearTimeout(overdue);
  }
}

function requireFilter({ referrerTag, subs }: CohortQuery): void {
  if (referrerTag === null && subs === null) throw new TypeError('a question needs a tag, ids, or both');
}
