import type { Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { bounds } from '../bounds.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { decodeResults, encodeBatch, type MatchBatch, type MatchResult } from './match-batch.ts';
import type { MatchTables } from './match-tables.ts';

/** What a matching thread is started with. */
export interface MatchWorkerData {
  /** Where it finds a catalog that it was not made ready with. */
  readonly archiveFolder: string;
  readonly verticals: readonly Vertical[];
}

/** What a matching thread is made ready with. */
export interface PreparedTables {
  readonly catalogVersion: string;
  readonly tables: MatchTables;
}

/**
 * One matching thread from its start to its end, in a Piscina of its own: whoever comes after it starts with nothing, and has to
 * be made ready before it is given work, so the pool must not put another thread in its place unseen.
 */
export class MatchThread {
  readonly #pool: Piscina;
  readonly #onEnd: (fault: unknown) => void;
  #workerExited = false;
  #ended = false;
  #destroyed: Promise<void> | null = null;

  /** `onExit` is called once, if the thread ends before `close`, whether it had work or not; it rejects what it was at, too. */
  constructor(workerData: MatchWorkerData, onEnd: (fault: unknown) => void) {
    this.#onEnd = onEnd;
    this.#pool = new Piscina({
      filename: new URL('../../workers/match.ts', import.meta.url).href,
      workerData,
      minThreads: 1,
      maxThreads: 1,
      // A batch, and a catalog that is made ready behind it: both wait with the thread, so both hear why it ended.
      concurrentTasksPerWorker: 2,
      recordTiming: false,
      // Piscina tries `require` before `import`. Node.js (22.23) loads a module for it in one go, and a thread that is ended in the
      // midst of that takes the whole process along ("IsGraphAsync must be used on an instantiated module").
      execArgv: ['--no-experimental-require-module'],
    });
    this.#pool.on('error', (fault) => this.#handleEnd(fault));
    this.#pool.on('workerDestroy', () => {
      this.#workerExited = true;
      // Told within Piscina's handling of the end: a pool under destruction starts no thread afterwards. It may wait for ever for
      // the exit that it is being told of.
      if (this.#destroyed === null) {
        this.#destroyed = Promise.resolve();
        void this.#pool.destroy();
      }
      // An exception tells its reason after this, a thread that was terminated or has left has none.
      setImmediate(() => this.#handleEnd(new Error('a matching thread ended')));
    });
  }

  /** False from the moment the thread is known to have ended, which is a little before `onExit`. */
  get isAlive(): boolean {
    return !this.#workerExited && !this.#ended;
  }

  /** The worker behind it; none once it has ended. */
  get workers(): Worker[] {
    return this.#pool.threads;
  }

  /** Rejects when the thread ended, and when it could not take the catalog over; then it goes on. */
  async prepare(prepared: PreparedTables): Promise<void> {
    try {
      await this.#pool.run(prepared, { name: 'prepare' });
    } catch (fault) {
      if (this.#workerExited) this.#handleEnd(fault);
      throw fault;
    }
  }

  /** Rejects once the thread has ended. A thread whose answer makes no sense is ended. */
  async match(batch: MatchBatch): Promise<MatchResult[]> {
    try {
      return decodeResults(await this.#pool.run(encodeBatch(batch)));
    } catch (fault) {
      this.#handleEnd(fault);
      throw fault;
    }
  }

  /** Ends it at once; what it is at is rejected. */
  async close(): Promise<void> {
    this.#ended = true;
    await this.#destroyPool();
  }

  /** Once alone: a second destruction would be over before the first one, and the pool start a thread again. */
  #destroyPool(): Promise<void> {
    if (this.#destroyed === null) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#destroyed = promise;
      this.#pool.destroy().finally(resolve);
    }
    return this.#destroyed;
  }

  #handleEnd(fault: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    void this.#destroyPool();
    this.#onEnd(fault);
  }
}

interface SupervisedMatchThreadOptions {
  readonly workerData: MatchWorkerData;
  /** The catalogs a thread needs before it may be given borrowers. */
  readonly requiredTables: () => readonly PreparedTables[];
  /** The first thread, or another in its place (`replaced`), can be given work. */
  readonly onReady: (replaced: boolean) => void;
  /** A thread ended that nobody ended, before it was ready or after; another is on its way. */
  readonly onExit: (fault: unknown, wasReady: boolean) => void;
}

/**
 * A matching thread that is there again after it ended:
 *
 *     starting, made ready with each catalog needed -> ready
 *          ^                                             |
 *          +-- at once, then after a growing pause ------+-- ended
 *
 * The pause grows while threads end without having answered anything, so that what cannot work is not tried without rest.
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

  /** The worker there is at present, if any. */
  get workers(): Worker[] {
    return this.#thread?.workers ?? [];
  }

  /** Resolves when a thread is ready. Rejects, and leaves it at that, when it cannot be made so. */
  async start(): Promise<void> {
    const thread = new MatchThread(this.#options.workerData, (fault) => this.#handleExit(fault));
    this.#thread = thread;
    try {
      await this.#prepareRequiredTables(thread);
    } catch (fault) {
      await thread.close();
      throw fault;
    }
    if (this.#closed) return;
    this.#ready = true;
    this.#options.onReady(this.#restartTimer !== null);
  }

  /** For a thread that is ready; one on its way asks what is needed itself. */
  async prepare(prepared: PreparedTables): Promise<void> {
    if (this.ready) await this.#thread!.prepare(prepared);
  }

  /** For a thread that is ready. Rejects once it has ended. */
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

  /** Asks again after each, since a catalog may have come up meanwhile. */
  async #prepareRequiredTables(thread: MatchThread): Promise<void> {
    const made = new Set<string>();
    for (;;) {
      const next = this.#options.requiredTables().find(({ catalogVersion }) => !made.has(catalogVersion));
      if (next === undefined) return;
      await thread.prepare(next);
      made.add(next.catalogVersion);
    }
  }

  #handleExit(fault: unknown): void {
    // Before, its end fails `start`.
    if (!this.#ready) return;
    this.#ready = false;
    this.#scheduleRestart();
    this.#options.onExit(fault, true);
  }

  #scheduleRestart(): void {
    if (this.#closed) return;
    this.#restartTimer = setTimeout(() => {
      this.start().catch((fault: unknown) => {
        if (this.#closed) return;
        this.#scheduleRestart();
        this.#options.onExit(fault, false);
      });
    }, this.#restartDelayMs);
    this.#restartDelayMs = Math.min(
      Math.max(this.#restartDelayMs * 2, bounds.matchWorkerRestartDelayMinMs),
      bounds.matchWorkerRestartDelayMaxMs,
    );
  }
}
