import { setTimeout } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { bounds } from '../bounds.ts';
import type { CompiledCatalog } from '../catalogs/compile-catalog.ts';
import type { CancelSignal } from '../domain/async.ts';
import type { Vertical } from '../verticals/vertical.ts';
import type { BatchRequest, MatchBatch, MatchResult } from './match-batch.ts';
import type { MatchWorkerData, PreparedTables } from './match-thread.ts';
import { SupervisedMatchThread } from './match-thread.ts';
import type { Matcher, MatchRequest, Ranking } from './matcher.ts';

/** What a worker says went wrong: a class of its own, so that a log can tell that the words are not ours. */
class MatchWorkerError extends Error {}

type VersionedTables = Pick<CompiledCatalog, 'version' | 'tables'>;

interface PoolMatcherOptions {
  /** Matching threads, at least 1. */
  readonly threads: number;
  /** Where workers find a catalog by its version, should they be asked about one that is no longer in use. */
  readonly archiveFolder: string;
  readonly verticals: readonly Vertical[];
  /** The catalogs in use now: what a thread is made ready with, the first ones and those that replace them. */
  readonly currentTables: () => readonly VersionedTables[];
  /** A thread ended that nobody ended, at work or idle, or could not be made ready: for the log. It is replaced. */
  readonly onThreadError?: (fault: unknown) => void;
  /** A thread that ended has been replaced by one that is ready. */
  readonly onThreadReplaced?: () => void;
  /** How many requests travelled to a worker together. */
  readonly onBatchSent?: (requests: number) => void;
}

interface PendingRequest {
  readonly request: BatchRequest;
  readonly closed: Int32Array | null;
  readonly signal: CancelSignal | null;
  readonly resolve: (ranking: Ranking | null) => void;
  readonly reject: (fault: Error) => void;
  retried: boolean;
}

/** One thread and the batch it is at, or null while it idles. */
interface ThreadSlot {
  readonly thread: SupervisedMatchThread;
  batch: readonly PendingRequest[] | null;
  /** Resolves when the last batch was answered or taken back. */
  settled: Promise<void>;
}

/**
 * Matches in worker threads. A request waits in one queue:
 *
 *     queued -> (a lane is ready and idle) -> in a batch -> answered
 *        ^   \-> cancelled -> null               | thread ended
 *        +---------------- once -----------------+-- the second time -> null
 *
 * Requests that arrive while all threads are busy travel together, as one message each way, since a message costs the
 * front end more than ranking does. A cancelled request never reaches a worker: it is removed when a batch is formed, or when the
 * queue is full and the request is at its head, where requests past their deadline are.
 *
 * A thread that ended is replaced at once, and gets no batch before it has every catalog in use; the other threads answer
 * meanwhile. Where there is no other, requests wait: with two catalogs of 20,000 offers the new thread takes some 0.8 seconds on a
 * busy machine, which is within every request's deadline and holds up nobody but who asks for offers. Ranking in the calling thread
 * would hold up everybody: cold indexes of that size take it 1.1 seconds for the first hundred borrowers, 190 ms for some one.
 * That a thread cannot be started is no reason for it either, since what ends threads may be what it would be given.
 */
export class PoolMatcher implements Matcher {
  readonly #slots: readonly ThreadSlot[];
  readonly #currentTables: () => readonly VersionedTables[];
  readonly #onThreadError: (fault: unknown) => void;
  readonly #onBatchSent: (requests: number) => void;
  readonly #queue: PendingRequest[] = [];
  /** Made ready last: in use from then on, or about to be. */
  #activating: VersionedTables | null = null;
  #dispatchHandle: NodeJS.Immediate | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: PoolMatcherOptions) {
    const { threads, archiveFolder, verticals, currentTables, onThreadError, onThreadReplaced, onBatchSent } = options;
    this.#currentTables = currentTables;
    this.#onThreadError = onThreadError ?? (() => {});
    this.#onBatchSent = onBatchSent ?? (() => {});
    const workerData: MatchWorkerData = { archiveFolder, verticals };
    this.#slots = Array.from({ length: threads }, () => ({
      thread: new SupervisedMatchThread({
        workerData,
        requiredTables: () => this.#requiredTables(),
        onReady: (replaced) => {
          if (replaced) onThreadReplaced?.();
          this.#dispatchQueue();
        },
        onExit: (fault, wasReady) => this.#handleThreadExit(fault, wasReady),
      }),
      batch: null,
      settled: Promise.resolve(),
    }));
  }

  /** Resolves when every thread is ready with the catalogs in use. Rejects when one cannot be: then close it. */
  async start(): Promise<void> {
    await Promise.all(this.#slots.map(({ thread }) => thread.start()));
  }

  get pendingCount(): number {
    return this.#slots.reduce((sum, { batch }) => sum + (batch?.length ?? 0), this.#queue.length);
  }

  get readyThreads(): number {
    return this.#slots.filter(({ thread }) => thread.ready).length;
  }

  /** The worker threads there are now, ready or not. */
  get threads(): Worker[] {
    return this.#slots.flatMap(({ thread }) => thread.workers);
  }

  match({ catalogVersion, borrower, today, unavailable = null, signal = null }: MatchRequest): Promise<Ranking | null> {
    if (this.#closing !== null || this.#isFull()) return Promise.resolve(null);
    return new Promise((resolve, reject) => {
      const request: BatchRequest = [catalogVersion, today, ...borrower];
      this.#queue.push({ request, closed: unavailable, signal, resolve, reject, retried: false });
      // Not at once: the other requests of this turn of the event loop can share the message.
      this.#dispatchHandle ??= setImmediate(() => this.#dispatchQueue());
    });
  }

  /**
   * Gives every thread the tables of a catalog that is about to come into use; they are compiled once for all of them. One thread
   * after the other, so that the rest go on. Rejects when one cannot take it over, or ended over it.
   */
  async prepare(compiled: VersionedTables): Promise<void> {
    this.#activating = compiled;
    try {
      for (const { thread } of this.#slots)
        if (this.#closing === null) await thread.prepare(toPreparedTables(compiled));
    } catch (fault) {
      this.#activating = null;
      if (this.#closing === null) throw fault;
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#dispatchHandle !== null) clearImmediate(this.#dispatchHandle);
    for (const { resolve } of this.#queue.splice(0)) resolve(null);
    const overdue = setTimeout(bounds.matcherCloseTimeoutMs, undefined, { ref: false });
    await Promise.all(
      this.#slots.map(async ({ thread, settled }) => {
        await Promise.race([settled, overdue]);
        await thread.close();
      }),
    );
  }

  #requiredTables(): readonly PreparedTables[] {
    return [...this.#currentTables(), ...(this.#activating === null ? [] : [this.#activating])].map(toPreparedTables);
  }

  #dispatchQueue(): void {
    this.#dispatchHandle = null;
    const idle = this.#slots.filter(({ thread, batch }) => batch === null && thread.ready);
    for (const [at, lane] of idle.entries()) {
      const share = Math.ceil(this.#queue.length / (idle.length - at));
      const batch = this.#takeBatch(Math.min(share, bounds.matchBatchRequestsMax));
      if (batch.length > 0) this.#sendBatch(lane, batch);
    }
  }

  /** Takes up to `most` requests from the head of the queue, and answers null to cancelled ones before and between them. */
  #takeBatch(most: number): PendingRequest[] {
    const batch: PendingRequest[] = [];
    let taken = 0;
    while (taken < this.#queue.length && batch.length < most) {
      const waiting = this.#queue[taken++]!;
      if (waiting.signal?.ended) waiting.resolve(null);
      else batch.push(waiting);
    }
    this.#queue.splice(0, taken);
    return batch;
  }

  /** Cancelled requests at the head of a full queue make room. */
  #isFull(): boolean {
    if (this.#queue.length < bounds.matchQueueRequestsMax) return false;
    while (this.#queue[0]?.signal?.ended) this.#queue.shift()!.resolve(null);
    return this.#queue.length >= bounds.matchQueueRequestsMax;
  }

  #sendBatch(lane: ThreadSlot, batch: readonly PendingRequest[]): void {
    lane.batch = batch;
    this.#onBatchSent(batch.length);
    lane.settled = lane.thread.match(toMatchBatch(batch)).then(
      (answers) => this.#settleBatch(lane, batch, answers),
      () => this.#requeueBatch(lane, batch), // Why it ended is told by the thread.
    );
  }

  #settleBatch(lane: ThreadSlot, batch: readonly PendingRequest[], answers: readonly MatchResult[]): void {
    lane.batch = null;
    // The next batch goes first, so that the worker is busy while this one is handed out.
    this.#dispatchQueue();
    for (const [at, { request, resolve, reject }] of batch.entries()) {
      const answer = answers[at]!;
      if ('failure' in answer) {
        reject(new MatchWorkerError(answer.failure));
        continue;
      }
      const { total, availableOnly, orders } = answer;
      resolve({ catalogVersion: request[0], total, availableOnly, orders });
    }
  }

  #requeueBatch(lane: ThreadSlot, batch: readonly PendingRequest[]): void {
    lane.batch = null;
    this.#queue.unshift(...this.#filterRetryable(batch));
    this.#dispatchQueue();
  }

  #handleThreadExit(fault: unknown, wasReady: boolean): void {
    this.#onThreadError(fault);
    // While no thread can be started, whoever waits is told so before long.
    if (!wasReady && this.#slots.every(({ thread }) => !thread.ready)) {
      this.#queue.push(...this.#filterRetryable(this.#queue.splice(0)));
    }
  }

  /** Those that may try again; null to those that have done so. */
  #filterRetryable(failed: readonly PendingRequest[]): PendingRequest[] {
    const again: PendingRequest[] = [];
    for (const waiting of failed) {
      if (waiting.retried || this.#closing !== null) {
        waiting.resolve(null);
      } else {
        waiting.retried = true;
        again.push(waiting);
      }
    }
    return again;
  }
}

function toPreparedTables({ version, tables }: VersionedTables): PreparedTables {
  return { catalogVersion: version, tables };
}

function toMatchBatch(waiting: readonly PendingRequest[]): MatchBatch {
  const anyClosed = waiting.some(({ closed }) => closed !== null);
  return {
    requests: waiting.map(({ request }) => request),
    unavailable: anyClosed ? waiting.map(({ closed }) => closed) : [],
  };
}
