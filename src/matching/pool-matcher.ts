import { setTimeout as wait } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { bounds } from '../bounds.ts';
import type { CancelSignal } from '../domain/async.ts';
import { decodeMatchResults, encodeMatchBatch, type MatchRequestTuple, type MatchResult } from './match-batch.ts';
import type { MatchTables } from './match-tables.ts';
import type { Matcher, MatchRequest, Ranking } from './matcher.ts';

/**
 * Error with the message of an exception in a matching thread. The message may quote submitted data, which must not be logged:
 * `describeError` omits the messages of subclasses of `Error`.
 */
class MatchThreadError extends Error {}

/** Batch of requests for a thread (`encodeMatchBatch`), with the tables of the catalogs that an earlier result listed as missing. */
export interface MatchTask {
  readonly batch: Uint8Array;
  readonly catalogs: ReadonlyMap<string, MatchTables>;
}

/** Results of a batch (`encodeMatchResults`), or the versions of the catalogs of the batch that the thread does not have. */
export type MatchTaskResult = { readonly results: Uint8Array } | { readonly missing: readonly string[] };

export interface PoolMatcherOptions {
  readonly threads: number;
  /** File that each thread loads. The file exports a promise of a function that handles a `MatchTask`. */
  readonly workerFile?: URL;
  /** Maximum time for a batch until the pool terminates the thread of the batch. */
  readonly batchTimeoutMs?: number;
  /** Called if a thread exited unexpectedly or could not start. */
  readonly onThreadExit?: () => void;
  readonly onThreadReplaced?: () => void;
  /** Called with the error of a thread, or with the reason why a batch has no results. */
  readonly onError?: (error: unknown) => void;
  readonly onBatchSent?: (requests: number) => void;
}

interface PendingRequest {
  readonly request: MatchRequestTuple;
  readonly tables: MatchTables;
  readonly unavailable: Int32Array | null;
  readonly signal: CancelSignal | null;
  readonly resolve: (ranking: Ranking | null) => void;
  readonly reject: (error: Error) => void;
  retried: boolean;
}

type Batch = readonly PendingRequest[];

/**
 * Ranks offers in worker threads. All requests wait in one queue:
 *
 *     queued -> (fewer batches than threads) -> in a batch -> settled
 *        ^   \-> cancelled -> null                 | thread exited or timed out
 *        +---------------- once -------------------+-- the second time -> null
 *
 * Requests that arrive while all threads are busy are sent as one batch, because sending a message takes the main thread longer than
 * ranking. A cancelled request is removed when a batch is formed, or when the request is at the front of a full queue. The main thread never
 * ranks the requests of the pool: a slow ranking would block all other requests, and a request that crashes a worker thread could crash the
 * service.
 *
 * Piscina starts, replaces and terminates the threads. A thread has no state that a request needs: if the thread lacks a catalog, the batch
 * is sent again with the tables of the catalog. A batch without results after `bounds.matchBatchTimeoutMs` fails, and its thread is replaced.
 */
export class PoolMatcher implements Matcher {
  readonly #options: PoolMatcherOptions;
  readonly #pool: Piscina<MatchTask, MatchTaskResult>;
  readonly #readyWorkers = new WeakSet<Worker>();
  readonly #queue: PendingRequest[] = [];
  /** Batches that were sent and are not settled, at most one per thread. Each promise resolves when the batch is settled. */
  readonly #batches = new Map<Batch, Promise<void>>();
  #dispatchHandle: NodeJS.Immediate | null = null;
  #closing: Promise<void> | null = null;

  private constructor(options: PoolMatcherOptions) {
    this.#options = options;
    const { threads, workerFile = new URL('../../workers/match.cts', import.meta.url) } = options;
    this.#pool = new Piscina({
      filename: workerFile.href,
      minThreads: threads,
      maxThreads: threads,
      resourceLimits: { maxOldGenerationSizeMb: bounds.matchThreadHeapMegabytes },
      recordTiming: false,
    });
    this.#pool.on('error', (error) => this.#reportError(error));
  }

  /** Starts the threads. Rejects if a thread cannot load its file. */
  static async start(options: PoolMatcherOptions): Promise<PoolMatcher> {
    const matcher = new PoolMatcher(options);
    try {
      await matcher.#startMissingThreads();
    } catch (error) {
      await matcher.close();
      throw error;
    }
    for (const worker of matcher.workers) matcher.#readyWorkers.add(worker);
    matcher.#pool.on('workerCreate', ({ id }: { readonly id: number }) => {
      for (const worker of matcher.workers) if (worker.threadId === id) matcher.#readyWorkers.add(worker);
      options.onThreadReplaced?.();
    });
    matcher.#pool.on('workerDestroy', () => matcher.#handleThreadExit());
    return matcher;
  }

  /** Runs an empty batch in each thread. Resolves when all threads are ready. */
  async #startMissingThreads(signal: AbortSignal | null = null): Promise<void> {
    const task: MatchTask = { batch: encodeMatchBatch({ requests: [], unavailable: [] }), catalogs: new Map() };
    await Promise.all(Array.from({ length: this.#options.threads }, () => this.#pool.run(task, { signal })));
  }

  #handleThreadExit(): void {
    if (this.#closing !== null) return;
    this.#options.onThreadExit?.();
    // Piscina replaces a thread immediately, but not a thread that exits before it is ready.
    const restart = () => {
      if (this.#closing === null)
        this.#startMissingThreads(AbortSignal.timeout(bounds.matchBatchTimeoutMs)).catch(() => {});
    };
    setTimeout(restart, bounds.matchThreadRestartDelayMs).unref();
  }

  get pendingRequestCount(): number {
    return [...this.#batches.keys()].reduce((sum, { length }) => sum + length, this.#queue.length);
  }

  get readyThreadCount(): number {
    return this.workers.filter((worker) => this.#readyWorkers.has(worker)).length;
  }

  /** Current workers, including those that are not ready yet. */
  get workers(): Worker[] {
    return this.#pool.threads;
  }

  match({ catalog, borrower, today, unavailable = null, signal = null }: MatchRequest): Promise<Ranking | null> {
    if (this.#closing !== null || this.#isQueueFull()) return Promise.resolve(null);
    return new Promise((resolve, reject) => {
      const request: MatchRequestTuple = [catalog.version, today, ...borrower];
      this.#queue.push({ request, tables: catalog.tables, unavailable, signal, resolve, reject, retried: false });
      // Requests that arrive in the same turn of the event loop are sent together at the end of the turn.
      this.#dispatchHandle ??= setImmediate(() => this.#dispatchQueuedRequests());
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#dispatchHandle !== null) clearImmediate(this.#dispatchHandle);
    for (const { resolve } of this.#queue.splice(0)) resolve(null);
    // The method `close` of Piscina 5.3.2 terminates busy threads early if the pool has more than two threads.
    const overdue = wait(bounds.matcherCloseTimeoutMs, undefined, { ref: false });
    await Promise.race([Promise.all(this.#batches.values()), overdue]);
    await this.#pool.destroy();
  }

  #dispatchQueuedRequests(): void {
    this.#dispatchHandle = null;
    for (let idle = this.#options.threads - this.#batches.size; idle > 0; idle--) {
      const share = Math.ceil(this.#queue.length / idle);
      const batch = this.#dequeueBatch(Math.min(share, bounds.matchBatchRequestsMax));
      if (batch.length > 0) this.#batches.set(batch, this.#matchBatch(batch));
    }
  }

  /**
   * Removes and returns up to `maxCount` requests from the front of the queue. Resolves cancelled requests to null and omits them from the
   * result.
   */
  #dequeueBatch(maxCount: number): Batch {
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

  async #matchBatch(batch: Batch): Promise<void> {
    this.#options.onBatchSent?.(batch.length);
    let results: readonly MatchResult[] = [];
    try {
      results = await this.#sendBatch(batch);
    } catch (error) {
      this.#reportError(error);
      this.#requeueBatch(batch);
    }
    this.#batches.delete(batch);
    // The next batch is sent before the promises of the completed batch are resolved, so that the thread is not idle.
    this.#dispatchQueuedRequests();
    for (const [at, result] of results.entries()) settleRequest(batch[at]!, result);
  }

  /** Rejects if the thread exits, or if the batch has no results in time. */
  async #sendBatch(batch: Batch): Promise<MatchResult[]> {
    const requests = batch.map(({ request }) => request);
    const anyUnavailable = batch.some(({ unavailable }) => unavailable !== null);
    const unavailable = anyUnavailable ? batch.map((pending) => pending.unavailable) : [];
    const task = { batch: encodeMatchBatch({ requests, unavailable }), catalogs: new Map<string, MatchTables>() };
    const watchdog = new AbortController();
    const timer = setTimeout(() => watchdog.abort(), this.#options.batchTimeoutMs ?? bounds.matchBatchTimeoutMs);
    try {
      for (;;) {
        const result = await this.#pool.run(task, { signal: watchdog.signal });
        if ('results' in result) return decodeMatchResults(result.results);
        // Another thread may get the batch the next time, so the task keeps the catalogs that were missing before.
        for (const { request, tables } of batch)
          if (result.missing.includes(request[0])) task.catalogs.set(request[0], tables);
      }
    } catch (error) {
      throw watchdog.signal.aborted ? new Error('a batch of match requests timed out') : error;
    } finally {
      clearTimeout(timer);
    }
  }

  #reportError(error: unknown): void {
    if (this.#closing === null) this.#options.onError?.(error);
  }

  /** Puts the requests of a failed batch back at the front of the queue. Resolves the requests that have failed before to null. */
  #requeueBatch(batch: Batch): void {
    for (const pending of batch.toReversed()) {
      if (pending.retried || this.#closing !== null) {
        pending.resolve(null);
      } else {
        pending.retried = true;
        this.#queue.unshift(pending);
      }
    }
  }
}

function settleRequest({ request, resolve, reject }: PendingRequest, result: MatchResult): void {
  if ('failure' in result) {
    reject(new MatchThreadError(result.failure));
  } else {
    const { total, availableOnly, orders } = result;
    resolve({ catalogVersion: request[0], total, availableOnly, orders });
  }
}
