import { setTimeout } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { bounds } from '../bounds.ts';
import type { CancelSignal } from '../domain/async.ts';
import type { Vertical } from '../domain/vertical.ts';
import type { MatchRequestTuple, MatchResult } from './match-batch.ts';
import { MatchThread, type VersionedMatchTables } from './match-thread.ts';
import type { Matcher, MatchRequest, Ranking } from './matcher.ts';
import type { MatchCatalogs } from './product-ranking.ts';

/**
 * Error with the message of an exception in a matching thread. The message may quote submitted data, which must not be logged:
 * `describeError` omits the messages of subclasses of `Error`.
 */
class MatchThreadError extends Error {}

export interface PoolMatcherOptions {
  readonly threads: number;
  /**
   * Store of the active catalogs. The pool sends the active catalogs to each new thread. If the pool has not sent a catalog version, worker
   * threads load the version from the archive.
   */
  readonly catalogs: MatchCatalogs;
  readonly verticals: readonly Vertical[];
  /** Called if a worker thread exited unexpectedly or could not be started; the pool then starts a new thread. */
  readonly onThreadError?: (error: unknown) => void;
  readonly onThreadReplaced?: () => void;
  readonly onBatchSent?: (requests: number) => void;
}

interface PendingRequest {
  readonly request: MatchRequestTuple;
  readonly unavailable: Int32Array | null;
  readonly signal: CancelSignal | null;
  readonly resolve: (ranking: Ranking | null) => void;
  readonly reject: (error: Error) => void;
  retried: boolean;
}

interface PoolThread {
  readonly thread: MatchThread;
  /** Batch in progress; null if the thread is idle. */
  batch: readonly PendingRequest[] | null;
  /** Resolves when the thread's latest batch has results, or when the requests of the batch are back in the queue. */
  settled: Promise<void>;
}

/**
 * Ranks offers in worker threads. All requests wait in one queue:
 *
 *     queued -> (a thread is ready and idle) -> in a batch -> settled
 *        ^   \-> cancelled -> null                 | thread exited
 *        +---------------- once -------------------+-- the second time -> null
 *
 * Requests that arrive while all threads are busy are sent as one batch, because sending a message takes the main thread longer than
 * ranking. A cancelled request is removed when a batch is formed, or when the request is at the front of a full queue.
 *
 * A thread that exits is replaced immediately. A new thread receives every active catalog before its first batch of requests. If no thread
 * is ready, requests wait in the queue. With two catalogs of 20,000 offers, a new thread is ready after about 0.8 seconds, so waiting
 * requests do not time out. The main thread never ranks the requests of the pool: a slow ranking would block all other requests, and a
 * request that crashes a worker thread could crash the service.
 */
export class WorkerPoolMatcher implements Matcher {
  readonly #threads: readonly PoolThread[];
  readonly #options: PoolMatcherOptions;
  readonly #queue: PendingRequest[] = [];
  /** Catalog that was last sent to the threads. The catalog is activated later, when every thread has the catalog. */
  #activating: VersionedMatchTables | null = null;
  #dispatchHandle: NodeJS.Immediate | null = null;
  #closing: Promise<void> | null = null;

  private constructor(options: PoolMatcherOptions) {
    this.#options = options;
    const { threads, catalogs, verticals } = options;
    const workerData = { archiveFolder: catalogs.archive.folder, verticals };
    this.#threads = Array.from({ length: threads }, () => ({
      thread: new MatchThread({
        workerData,
        requiredTables: () => this.#listCurrentCatalogTables(),
        onReady: (replaced) => {
          if (replaced) options.onThreadReplaced?.();
          this.#dispatchQueuedRequests();
        },
        onExit: (error, wasReady) => this.#handleThreadExit(error, wasReady),
      }),
      batch: null,
      settled: Promise.resolve(),
    }));
  }

  /** Starts the threads, and sends them the active catalogs now and each new catalog before its activation. */
  static async start(options: PoolMatcherOptions): Promise<WorkerPoolMatcher> {
    const pool = new WorkerPoolMatcher(options);
    try {
      await Promise.all(pool.#threads.map(({ thread }) => thread.start()));
    } catch (error) {
      await pool.close();
      throw error;
    }
    options.catalogs.onBeforeActivate((compiled) => pool.sendCatalog(compiled));
    return pool;
  }

  get pendingRequestCount(): number {
    return this.#threads.reduce((sum, { batch }) => sum + (batch?.length ?? 0), this.#queue.length);
  }

  get readyThreadCount(): number {
    return this.#threads.filter(({ thread }) => thread.isReady).length;
  }

  /** Current workers, including those that are not ready yet. */
  get workers(): Worker[] {
    return this.#threads.flatMap(({ thread }) => thread.currentWorker ?? []);
  }

  match({ catalogVersion, borrower, today, unavailable = null, signal = null }: MatchRequest): Promise<Ranking | null> {
    if (this.#closing !== null || this.#isQueueFull()) return Promise.resolve(null);
    return new Promise((resolve, reject) => {
      const request: MatchRequestTuple = [catalogVersion, today, ...borrower];
      this.#queue.push({ request, unavailable, signal, resolve, reject, retried: false });
      // Requests that arrive in the same turn of the event loop are sent together at the end of the turn.
      this.#dispatchHandle ??= setImmediate(() => this.#dispatchQueuedRequests());
    });
  }

  /**
   * Sends a catalog to all threads before the catalog is activated. Sends the catalog to one thread after the other, so that the other
   * threads can rank in the meantime. Rejects if a thread exits or cannot use the catalog.
   */
  async sendCatalog({ version, tables }: VersionedMatchTables): Promise<void> {
    this.#activating = { version, tables };
    try {
      for (const { thread } of this.#threads)
        if (this.#closing === null) await thread.sendCatalogTables(this.#activating);
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
      this.#threads.map(async ({ thread, settled }) => {
        await Promise.race([settled, overdue]);
        await thread.close();
      }),
    );
  }

  #listCurrentCatalogTables(): readonly VersionedMatchTables[] {
    const current = this.#options.catalogs.currentCatalogs.map(({ version, tables }) => ({ version, tables }));
    return this.#activating === null ? current : [...current, this.#activating];
  }

  #dispatchQueuedRequests(): void {
    this.#dispatchHandle = null;
    const idle = this.#threads.filter(({ thread, batch }) => batch === null && thread.isReady);
    for (const [at, idleThread] of idle.entries()) {
      const share = Math.ceil(this.#queue.length / (idle.length - at));
      const batch = this.#dequeueBatch(Math.min(share, bounds.matchBatchRequestsMax));
      if (batch.length > 0) this.#sendBatch(idleThread, batch);
    }
  }

  /**
   * Removes and returns up to `maxCount` requests from the front of the queue. Resolves cancelled requests to null and omits them from the
   * result.
   */
  #dequeueBatch(maxCount: number): PendingRequest[] {
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

  /** Removes cancelled requests from the front of a full queue, and returns whether the queue is still full. */
  #isQueueFull(): boolean {
    if (this.#queue.length < bounds.matchQueueRequestsMax) return false;
    while (this.#queue[0]?.signal?.ended) this.#queue.shift()!.resolve(null);
    return this.#queue.length >= bounds.matchQueueRequestsMax;
  }

  #sendBatch(target: PoolThread, batch: readonly PendingRequest[]): void {
    target.batch = batch;
    this.#options.onBatchSent?.(batch.length);
    const requests = batch.map(({ request }) => request);
    const anyUnavailable = batch.some(({ unavailable }) => unavailable !== null);
    const unavailable = anyUnavailable ? batch.map((pending) => pending.unavailable) : [];
    target.settled = target.thread.match({ requests, unavailable }).then(
      (results) => this.#handleBatchResults(target, batch, results),
      () => this.#requeueBatch(target, batch), // `onExit` handles errors of the thread.
    );
  }

  #handleBatchResults(thread: PoolThread, batch: readonly PendingRequest[], results: readonly MatchResult[]): void {
    thread.batch = null;
    // The next batch is sent before the promises of the completed batch are resolved, so that the thread is not idle.
    this.#dispatchQueuedRequests();
    for (const [at, { request, resolve, reject }] of batch.entries()) {
      const result = results[at]!;
      if ('failure' in result) {
        reject(new MatchThreadError(result.failure));
      } else {
        const { total, availableOnly, orders } = result;
        resolve({ catalogVersion: request[0], total, availableOnly, orders });
      }
    }
  }

  #requeueBatch(thread: PoolThread, batch: readonly PendingRequest[]): void {
    thread.batch = null;
    this.#queue.unshift(...this.#selectRequestsToRetry(batch));
    this.#dispatchQueuedRequests();
  }

  #handleThreadExit(error: unknown, wasReady: boolean): void {
    this.#options.onThreadError?.(error);
    // While no thread is ready, a request stays queued after one failed restart of a thread, and resolves to null after the second.
    if (!wasReady && this.#threads.every(({ thread }) => !thread.isReady)) {
      this.#queue.push(...this.#selectRequestsToRetry(this.#queue.splice(0)));
    }
  }

  /** Returns the failed requests that can be retried, and resolves all other failed requests to null. A request is retried once. */
  #selectRequestsToRetry(failed: readonly PendingRequest[]): PendingRequest[] {
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
