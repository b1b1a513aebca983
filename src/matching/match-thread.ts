import type { Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { bounds } from '../bounds.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { decodeResults, encodeBatch, type MatchBatch, type MatchResult } from './match-batch.ts';
import type { MatchTables } from './match-tables.ts';

export interface MatchWorkerData {
  /** Folder from which the thread loads catalogs that it was not prepared with. */
  readonly archiveFolder: string;
  readonly verticals: readonly Vertical[];
}

export interface PreparedTables {
  readonly catalogVersion: string;
  readonly tables: MatchTables;
}

/**
 * One matching thread, in a Piscina of its own. A new thread has no catalogs and must be prepared before it gets work, so the pool must
 * not replace the thread by itself.
 */
export class MatchThread {
  readonly #pool: Piscina;
  readonly #onExit: (error: unknown) => void;
  #workerExited = false;
  #exited = false;
  #destroyed: Promise<void> | null = null;

  /** Calls `onExit` once if the thread exits before `close`. Pending calls are rejected too. */
  constructor(workerData: MatchWorkerData, onExit: (error: unknown) => void) {
    this.#onExit = onExit;
    this.#pool = new Piscina({
      filename: new URL('../../workers/match.ts', import.meta.url).href,
      workerData,
      minThreads: 1,
      maxThreads: 1,
      // One batch and one `prepare`: both wait in the thread, so both are rejected with the reason of its exit.
      concurrentTasksPerWorker: 2,
      recordTiming: false,
      // Piscina tries `require` before `import`. If a thread is terminated while Node.js 22.23 loads a module by `require`, the whole
      // process crashes ("IsGraphAsync must be used on an instantiated module").
      execArgv: ['--no-experimental-require-module'],
    });
    this.#pool.on('error', (error) => this.#handleExit(error));
    this.#pool.on('workerDestroy', () => {
      this.#workerExited = true;
      // Must be called here, because a pool that is being destroyed starts no other thread. The promise is ignored, because it may wait
      // forever for the exit that this event reports.
      if (this.#destroyed === null) {
        this.#destroyed = Promise.resolve();
        void this.#pool.destroy();
      }
      // An exception is reported after this event; a thread that was terminated has no other reason.
      setImmediate(() => this.#handleExit(new Error('a matching thread exited')));
    });
  }

  /** False as soon as the thread is known to have exited, a little before `onExit`. */
  get isAlive(): boolean {
    return !this.#workerExited && !this.#exited;
  }

  /** Empty after the thread has exited. */
  get workers(): Worker[] {
    return this.#pool.threads;
  }

  /** Rejects if the thread exits, or if preparing fails, after which the thread can still be used. */
  async prepare(tables: PreparedTables): Promise<void> {
    try {
      await this.#pool.run(tables, { name: 'prepare' });
    } catch (error) {
      if (this.#workerExited) this.#handleExit(error);
      throw error;
    }
  }

  /** Rejects if the thread exits. A result that cannot be decoded also closes the thread. */
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

  /** Must destroy only once: a second call resolves before the first has finished, and the pool would start another thread. */
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
  /** The catalogs that a thread needs before it is ready. */
  readonly requiredTables: () => readonly PreparedTables[];
  /** A thread is ready: the first one, or a replacement (`replaced`). */
  readonly onReady: (replaced: boolean) => void;
  /** A thread exited unexpectedly, before it was ready or after. Another one is being started. */
  readonly onExit: (error: unknown, wasReady: boolean) => void;
}

/**
 * A matching thread that is replaced after it exits:
 *
 *     starting, prepared with each required catalog -> ready
 *          ^                                             |
 *          +-- at once, then after a growing delay ------+-- exited
 *
 * The delay grows while threads exit without having ranked anything.
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

  /** Resolves when the thread is ready. Rejects, without another attempt, if it cannot be prepared. */
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

  /** Does nothing for a thread that is not ready: it reads `requiredTables` itself. */
  async prepare(tables: PreparedTables): Promise<void> {
    if (this.ready) await this.#thread!.prepare(tables);
  }

  /** The thread must be ready. Rejects if it exits. */
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

  /** Reads `requiredTables` again after each catalog, because another one may have been added meanwhile. */
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
    // Until then the exit rejects `start`.
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
