import type { Worker } from 'node:worker_threads';
import { bounds } from '../bounds.ts';
import type { Batch, BatchResult } from './match-batch.ts';
import { MatchThread, type MatchWorkerData, type PreparedTables } from './match-thread.ts';

export interface KeptThreadOptions {
  readonly workerData: MatchWorkerData;
  /** The catalogs a thread needs before it may be given borrowers. */
  readonly needed: () => readonly PreparedTables[];
  /** The first thread, or another in its place (`replaced`), can be given work. */
  readonly onReady: (replaced: boolean) => void;
  /** A thread ended that nobody ended, before it was ready or after; another is on its way. */
  readonly onEnd: (fault: unknown, wasReady: boolean) => void;
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
export class KeptThread {
  readonly #options: KeptThreadOptions;
  #thread: MatchThread | null = null;
  #ready = false;
  #pauseMs = 0;
  #restart: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(options: KeptThreadOptions) {
    this.#options = options;
  }

  get ready(): boolean {
    return this.#ready && this.#thread!.alive;
  }

  /** The worker there is at present, if any. */
  get workers(): Worker[] {
    return this.#thread?.workers ?? [];
  }

  /** Resolves when a thread is ready. Rejects, and leaves it at that, when it cannot be made so. */
  async start(): Promise<void> {
    const thread = new MatchThread(this.#options.workerData, (fault) => this.#ended(fault));
    this.#thread = thread;
    try {
      await this.#makeReady(thread);
    } catch (fault) {
      await thread.close();
      throw fault;
    }
    if (this.#closed) return;
    this.#ready = true;
    this.#options.onReady(this.#restart !== null);
  }

  /** For a thread that is ready; one on its way asks what is needed itself. */
  async prepare(prepared: PreparedTables): Promise<void> {
    if (this.ready) await this.#thread!.prepare(prepared);
  }

  /** For a thread that is ready. Rejects once it has ended. */
  async match(batch: Batch): Promise<BatchResult[]> {
    const results = await this.#thread!.match(batch);
    this.#pauseMs = 0;
    return results;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#ready = false;
    if (this.#restart !== null) clearTimeout(this.#restart);
    await this.#thread?.close();
  }

  /** Asks again after each, since a catalog may have come up meanwhile. */
  async #makeReady(thread: MatchThread): Promise<void> {
    const made = new Set<string>();
    for (;;) {
      const next = this.#options.needed().find(({ catalogVersion }) => !made.has(catalogVersion));
      if (next === undefined) return;
      await thread.prepare(next);
      made.add(next.catalogVersion);
    }
  }

  #ended(fault: unknown): void {
    // Before, its end fails `start`.
    if (!this.#ready) return;
    this.#ready = false;
    this.#startAgain();
    this.#options.onEnd(fault, true);
  }

  #startAgain(): void {
    if (this.#closed) return;
    this.#restart = setTimeout(() => {
      this.start().catch((fault: unknown) => {
        if (this.#closed) return;
        this.#startAgain();
        this.#options.onEnd(fault, false);
      });
    }, this.#pauseMs);
    this.#pauseMs = Math.min(Math.max(this.#pauseMs * 2, bounds.matcherRestartMinMs), bounds.matcherRestartMaxMs);
  }
}
