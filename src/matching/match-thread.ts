import type { Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { bounds } from '../bounds.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { decodeResults, encodeBatch, type MatchBatch, type MatchResult } from './match-batch.ts';
import type { MatchTables } from './match-tables.ts';

export interface MatchWorkerData {
  /** Folder from which the thread loads catalogs that were not sent to it by `prepare`. */
  readonly archiveFolder: string;
  readonly verticals: readonly Vertical[];
}

export interface PreparedTables {
  readonly catalogVersion: string;
  readonly tables: MatchTables;
}

/**
 * One matching thread in its own Piscina pool. A new thread has no catalogs and must be prepared before it receives requests, so the
 * pool must not replace the thread automatically.
 */
export class MatchThread {
  readonly #pool: Piscina;
  readonly #onExit: (error: unknown) => void;
  #workerExited = false;
  #exited = false;
  #destroyed: Promise<void> | null = null;

  /** @param onExit called once if the thread exits before `close`; pending calls are also rejected */
  constructor(workerData: MatchWorkerData, onExit: (error: unknown) => void) {
    this.#onExit = onExit;
    this.#pool = new Piscina({
      filename: new URL('../../workers/match.ts', import.meta.url).href,
      workerData,
      minThreads: 1,
      maxThreads: 1,
      // The thread accepts one batch and one `prepare` at a time. If the thread exits, both are rejected with the reason.
      concurrentTasksPerWorker: 2,
      recordTiming: false,
      // Piscina tries `require` before `import`. If a thread is terminated while Node.js 22.23 loads a module by `require`, the whole
      // process crashes ("IsGraphAsync must be used on an instantiated module").
      execArgv: ['--no-experimental-require-module'],
    });
    this.#pool.on('error', (error) => this.#handleExit(error));
    this.#pool.on('workerDestroy', () => {
      this.#workerExited = true;
      // `close` must be called here, because a pool that is being destroyed does not start another thread. The promise is ignored: it
      // may wait forever for the exit that this event reports.
      if (this.#destroyed === null) {
        this.#destroyed = Promise.resolve();
        void this.#pool.destroy();
      }
      // An exception is reported after this event. If the thread was terminated, this message is the only reason.
      setImmediate(() => this.#handleExit(new Error('a matching thread exited')));
    });
  }

  /** Whether the thread is running. False as soon as an exit is known, shortly before `onExit` is called. */
  get isAlive(): boolean {
    return !this.#workerExited && !this.#exited;
  }

  /** Worker of this thread; empty after the thread has exited. */
  get workers(): Worker[] {
    return this.#pool.threads;
  }

  /** Sends the tables of a catalog. Rejects if the thread exits or if preparing fails. In the second case the thread remains usable. */
  async prepare(tables: PreparedTables): Promise<void> {
    try {
      await this.#pool.run(tables, { name: 'prepare' });
    } catch (error) {
      if (this.#workerExited) this.#handleExit(error);
      throw error;
    }
  }

  /** Ranks a batch. Rejects if the thread exits. Closes the thread if the result cannot be decoded. */
  async match(batch: MatchBatch): Promise<MatchResult[]> {
    try {
      return decodeResults(await this.#pool.run(encodeBatch(batch)));
    } catch (error) {
      this.#handleExit(error);
      throw error;
    }
  }

  /** Terminates the thread. Pending calls are rejected. */
  async close(): Promise<void> {
    this.#exited = true;
    await this.#destroyPool();
  }

  /** Destroys the pool only once: a second `destroy` would resolve before the first, and the pool would start another thread. */
  #destroyPool(): Promise<void> {
    if (this.#destroyed === null) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#destroyed = promise;
      this.#pool.destroy().finally(resolve);
    }
    return this.#destroyed;
  }

  #handleExit(error: unknown): void {
    if (this.#exited) return;
    this.#exited = true;
    void this.#destroyPool();
    this.#onExit(error);
  }
}

interface SupervisedMatchThreadOptions {
  readonly workerData: MatchWorkerData;
  /** Returns the catalogs that a thread needs before it is ready. */
  readonly requiredTables: () => readonly PreparedTables[];
  /** Called when a thread is ready: the first thread, or a replacement (`replaced`). */
  readonly onReady: (replaced: boolean) => void;
  /** Called when a thread exited unexpectedly, whether or not it was ready. The supervisor then starts another thread. */
  readonly onExit: (error: unknown, wasReady: boolean) => void;
}

/**
 * A matching thread with a supervisor that replaces the thread after an exit:
 *
 *     starting, prepared with each required catalog -> ready
 *          ^                                             |
 *          +-- at once, then after a growing delay ------+-- exited
 *
 * The delay grows while threads exit before they have ranked a request.
 */
export class SupervisedMatchThread {
  readonly #options: SupervisedMatchThreadOptions;
  #thread: MatchThread | null = null;
  #ready = false;
  #restartDelayMs = 0;
  #restartTimer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(options: SupervisedMatchThreadOptions) {
    this.#options = options;
  }

  get ready(): boolean {
    return this.#ready && this.#thread!.isAlive;
  }

  get workers(): Worker[] {
    return this.#thread?.workers ?? [];
  }

  /** Starts the thread and resolves when it is ready. Rejects, without another attempt, if the thread cannot be prepared. */
  async start(): Promise<void> {
    const thread = new MatchThread(this.#options.workerData, (error) => this.#handleExit(error));
    this.#thread = thread;
    try {
      await this.#prepareRequiredTables(thread);
    } catch (error) {
      await thread.close();
      throw error;
    }
    if (this.#closed) return;
    this.#ready = true;
    this.#options.onReady(this.#restartTimer !== null);
  }

  /** Sends a catalog to a ready thread. Has no effect before the thread is ready, because it then reads `requiredTables`. */
  async prepare(tables: PreparedTables): Promise<void> {
    if (this.ready) await this.#thread!.prepare(tables);
  }

  /** Ranks a batch. Requires that the thread is ready. Rejects if the thread exits. */
  async match(batch: MatchBatch): Promise<MatchResult[]> {
    const results = await this.#thread!.match(batch);
    this.#restartDelayMs = 0;
    return results;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#ready = false;
    if (this.#restartTimer !== null) clearTimeout(this.#restartTimer);
    await this.#thread?.close();
  }

  /** Sends all required catalogs. Reads `requiredTables` again after each catalog, because another catalog may have been added. */
  async #prepareRequiredTables(thread: MatchThread): Promise<void> {
    const prepared = new Set<string>();
    for (;;) {
      const next = this.#options.requiredTables().find(({ catalogVersion }) => !prepared.has(catalogVersion));
      if (next === undefined) return;
      await thread.prepare(next);
      prepared.add(next.catalogVersion);
    }
  }

  #handleExit(error: unknown): void {
    // Before the thread is ready, its exit rejects `start`.
    if (!this.#ready) return;
    this.#ready = false;
    this.#scheduleRestart();
    this.#options.onExit(error, true);
  }

  #scheduleRestart(): void {
    if (this.#closed) return;
    this.#restartTimer = setTimeout(() => {
      this.start().catch((error: unknown) => {
        if (this.#closed) return;
        this.#scheduleRestart();
        this.#options.onExit(error, false);
      });
    }, this.#restartDelayMs);
    this.#restartDelayMs = Math.min(
      Math.max(this.#restartDelayMs * 2, bounds.matchWorkerRestartDelayMinMs),
      bounds.matchWorkerRestartDelayMaxMs,
    );
  }
}
