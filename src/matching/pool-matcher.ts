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

/** Reports an error message from a worker thread. */
class MatchWorkerError extends Error {}

type VersionedTables = Pick<CompiledCatalog, 'version' | 'tables'>;

interface PoolMatcherOptions {
  /** Number of matching threads, at least 1. */
  readonly threads: number;
  /** Folder from which worker threads load catalogs that are no longer in use. */
  readonly archiveFolder: string;
  readonly verticals: readonly Vertical[];
  /** Returns the catalogs in use now. Each new thread is prepared with these catalogs. */
  readonly currentTables: () => readonly VersionedTables[];
  /** Called to log that a thread exited unexpectedly or could not be prepared. The thread is then replaced. */
  readonly onThreadError?: (error: unknown) => void;
  /** Called when the replacement of an exited thread is ready. */
  readonly onThreadReplaced?: () => void;
  /** Called with the number of requests in each batch. */
  readonly onBatchSent?: (requests: number) => void;
}

interface PendingRequest {
  readonly request: BatchRequest;
  readonly closed: Int32Array | null;
  readonly signal: CancelSignal | null;
  readonly resolve: (ranking: Ranking | null) => void;
  readonly reject: (error: Error) => void;
  retried: boolean;
}

interface ThreadSlot {
  readonly thread: SupervisedMatchThread;
  /** Batch in progress; null if the thread is idle. */
  batch: readonly PendingRequest[] | null;
  /** Resolves when the last batch was settled or returned to the queue. */
  settled: Promise<void>;
}

/**
 * Ranks offers in worker threads. All requests wait in one queue:
 *
 *     queued -> (a thread is ready and idle) -> in a batch -> settled
 *        ^   \-> cancelled -> null                 | thread exited
 *        +---------------- once -------------------+-- the second time -> null
 *
 * Requests that arrive while all threads are busy are sent as one batch, because sending a message costs the main thread more than a
 * ranking. A cancelled request is not sent: it is removed when a batch is formed, or from the front of a full queue.
 *
 * An exited thread is replaced immediately. The new thread receives no batch before it has every catalog in use. If there is no other
 * thread, requests wait: with two catalogs of 20,000 offers, the new thread is ready after about 0.8 seconds on a busy machine, which
 * is within the deadline of every request. Ranking in the main thread instead would block all other requests: with cold indexes of that
 * size, the first hundred borrowers take 1.1 seconds, and one borrower up to 190 ms. The main thread does not rank even if no thread
 * can be started, because the input that ended the threads might also end the main thread.
 */
export class PoolMatcher implements Matcher {
  readonly #slots: readonly ThreadSlot[];
  readonly #currentTables: () => readonly VersionedTables[];
  readonly #onThreadError: (error: unknown) => void;
  readonly #onBatchSent: (requests: number) => void;
  readonly #queue: PendingRequest[] = [];
  /** Last prepared catalog, which is about to be activated. */
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
        onExit: (error, wasReady) => this.#handleThreadExit(error, wasReady),
      }),
      batch: null,
      settled: Promise.resolve(),
    }));
  }

  /** Resolves when every thread has the catalogs in use. Rejects if a thread cannot be prepared; the caller must then call `close`. */
  async start(): Promise<void> {
    await Promise.all(this.#slots.map(({ thread }) => thread.start()));
  }

  get pendingCount(): number {
    return this.#slots.reduce((sum, { batch }) => sum + (batch?.length ?? 0), this.#queue.length);
  }

  get readyThreads(): number {
    return this.#slots.filter(({ thread }) => thread.ready).length;
  }

  /** Current worker threads, whether or not they are ready. */
  get threads(): Worker[] {
    return this.#slots.flatMap(({ thread }) => thread.workers);
  }

  match({ catalogVersion, borrower, today, unavailable = null, signal = null }: MatchRequest): Promise<Ranking | null> {
    if (this.#closing !== null || this.#isFull()) return Promise.resolve(null);
    return new Promise((resolve, reject) => {
      const request: BatchRequest = [catalogVersion, today, ...borrower];
      this.#queue.push({ request, closed: unavailable, signal, resolve, reject, retried: false });
      // Sending is deferred, so that the other requests of this turn of the event loop join the batch.
      this.#dispatchHandle ??= setImmediate(() => this.#dispatchQueue());
    });
  }

  /**
   * Sends the tables of a catalog that is about to be activated to every thread. Threads are prepared one after the other, so that the
   * other threads continue to rank. Rejects if a thread fails or exits.
   */
  async prepare(compiled: VersionedTables): Promise<void> {
    this.#activating = compiled;
    try {
      for (const { thread } of this.#slots)
        if (this.#closing === null) await thread.prepare(toPreparedTables(compiled));
    } catch (error) {
      this.#activating = null;
      if (this.#closing === null) throw error;
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
    for (const [at, slot] of idle.entries()) {
      const share = Math.ceil(this.#queue.length / (idle.length - at));
      const batch = this.#takeBatch(Math.min(share, bounds.matchBatchRequestsMax));
      if (batch.length > 0) this.#sendBatch(slot, batch);
    }
  }

  /** Removes up to `maxCount` requests from the front of the queue. Resolves the cancelled requests among them with null. */
  #takeBatch(maxCount: number): PendingRequest[] {
    const batch: PendingRequest[] = [];
    let taken = 0;
    while (taken < this.#queue.length && batch.length < maxCount) {
      const pending = this.#queue[taken++]!;
      if (pending.signal?.ended) pending.resolve(null);
      else batch.push(pending);
    }
    this.#queue.splice(0, taken);
    return batch;
  }

  /** Whether the queue is full. Removes cancelled requests from the front of a full queue first. */
  #isFull(): boolean {
    if (this.#queue.length < bounds.matchQueueRequestsMax) return false;
    while (this.#queue[0]?.signal?.ended) this.#queue.shift()!.resolve(null);
    return this.#queue.length >= bounds.matchQueueRequestsMax;
  }

  #sendBatch(slot: ThreadSlot, batch: readonly PendingRequest[]): void {
    slot.batch = batch;
    this.#onBatchSent(batch.length);
    slot.settled = slot.thread.match(toMatchBatch(batch)).then(
      (results) => this.#settleBatch(slot, batch, results),
      () => this.#requeueBatch(slot, batch), // The thread reports the reason.
    );
  }

  #settleBatch(slot: ThreadSlot, batch: readonly PendingRequest[], results: readonly MatchResult[]): void {
    slot.batch = null;
    // The next batch is sent first, so that the thread is busy while these promises resolve.
    this.#dispatchQueue();
    for (const [at, { request, resolve, reject }] of batch.entries()) {
      const result = results[at]!;
      if ('failure' in result) {
        reject(new MatchWorkerError(result.failure));
        continue;
      }
      const { total, availableOnly, orders } = result;
      resolve({ catalogVersion: request[0], total, availableOnly, orders });
    }
  }

  #requeueBatch(slot: ThreadSlot, batch: readonly PendingRequest[]): void {
    slot.batch = null;
    this.#queue.unshift(...this.#filterRetryable(batch));
    this.#dispatchQueue();
  }

  #handleThreadExit(error: unknown, wasReady: boolean): void {
    this.#onThreadError(error);
    // If no thread can be started, requests in the queue must not wait until their deadline.
    if (!wasReady && this.#slots.every(({ thread }) => !thread.ready)) {
      this.#queue.push(...this.#filterRetryable(this.#queue.splice(0)));
    }
  }

  /** Returns the failed requests that were not retried before. Resolves the other failed requests with null. */
  #filterRetryable(failed: readonly PendingRequest[]): PendingRequest[] {
    const again: PendingRequest[] = [];
    for (const pending of failed) {
      if (pending.retried || this.#closing !== null) {
        pending.resolve(null);
      } else {
        pending.retried = true;
        again.push(pending);
      }
    }
    return again;
  }
}

function toPreparedTables({ version, tables }: VersionedTables): PreparedTables {
  return { catalogVersion: version, tables };
}

function toMatchBatch(pending: readonly PendingRequest[]): MatchBatch {
  const anyUnavailable = pending.some(({ closed }) => closed !== null);
  return {
    requests: pending.map(({ request }) => request),
    unavailable: anyUnavailable ? pending.map(({ closed }) => closed) : [],
  };
}
