import type { Worker } from 'node:worker_threads';
import { bounds } from '../bounds.ts';
import type { MatchBatch, MatchResult } from './match-batch.ts';
import { MatchThread, type MatchWorkerData, type PreparedTables } from './match-thread.ts';

export interface SupervisedMatchThreadOptions {
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
    this.#restartDelayMs = Math.min(Math.max(this.#restartDelayMs * 2, bounds.matchWorkerRestartDelayMinMs), bounds.matchWorkerRestartDelayMaxMs);
  }
}
