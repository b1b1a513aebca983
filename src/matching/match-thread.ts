import { Worker } from 'node:worker_threads';
import { bounds } from '../bounds.ts';
import type { Vertical } from '../domain/vertical.ts';
import { decodeMatchResults, encodeMatchBatch, type MatchBatch, type MatchResult } from './match-batch.ts';
import type { MatchTables } from './match-tables.ts';

export interface MatchWorkerData {
  /** Archive folder from which the thread loads catalogs that the main thread has not sent. */
  readonly archiveFolder: string;
  readonly verticals: readonly Vertical[];
}

/** Tables of a catalog version. The main thread sends the tables to each matching thread before the catalog is activated. */
export interface VersionedMatchTables {
  readonly version: string;
  readonly tables: MatchTables;
}

/** Message to a matching thread: a batch of requests (`encodeMatchBatch`) or the tables of a catalog. */
export type MatchThreadMessage = Uint8Array | VersionedMatchTables;

/**
 * Reply of a matching thread: `results` for a batch (`encodeMatchResults`), an empty object for the tables of a catalog, or `error` for a
 * failed message. The thread replies to the messages in order.
 */
export interface MatchThreadReply {
  readonly results?: Uint8Array;
  readonly error?: unknown;
}

interface MatchThreadOptions {
  readonly workerData: MatchWorkerData;
  /** Returns the catalogs that the thread needs before it is ready. */
  readonly requiredTables: () => readonly VersionedMatchTables[];
  /** Called when the thread is ready. `replaced` is true if the worker replaces a worker that exited. */
  readonly onReady: (replaced: boolean) => void;
  /**
   * Called after a ready worker exited unexpectedly (`wasReady` is true), or after a new worker could not be started in its place
   * (`wasReady` is false). The start of another worker is already scheduled when `onExit` is called.
   */
  readonly onExit: (error: unknown, wasReady: boolean) => void;
}

/**
 * Thread that ranks offers. After an unexpected exit, the thread replaces its worker:
 *
 *     starting, receives each required catalog -> ready
 *          ^                                        |
 *          +-- at once, then after a growing delay -+-- exited
 *
 * The restart delay grows with each restart up to a maximum, and returns to 0 when a worker has ranked a batch.
 */
export class MatchThread {
  readonly #options: MatchThreadOptions;
  #worker: Worker | null = null;
  /** Promises of the replies that the worker has not sent yet, oldest first. */
  readonly #pending: PromiseWithResolvers<Uint8Array | undefined>[] = [];
  #ready = false;
  #restartDelayMs = 0;
  #restartTimer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(options: MatchThreadOptions) {
    this.#options = options;
  }

  get isReady(): boolean {
    return this.#ready;
  }

  /** Current worker, even if the worker is not ready yet; null after an exit. */
  get currentWorker(): Worker | null {
    return this.#worker;
  }

  /** Starts a worker and resolves when the worker is ready. Rejects if the worker cannot load the required catalogs, and does not retry. */
  async start(): Promise<void> {
    const worker = new Worker(new URL('../../workers/match.ts', import.meta.url), {
      workerData: this.#options.workerData,
    });
    this.#worker = worker;
    worker.on('message', (reply: MatchThreadReply) => this.#handleReply(worker, reply));
    worker.on('error', (error) => this.#onWorkerExit(worker, error));
    worker.on('exit', () => this.#onWorkerExit(worker, new Error('a matching thread exited')));
    try {
      await this.#sendCatalogs(worker);
    } catch (error) {
      await this.#terminateWorker(worker, error);
      throw error;
    }
    // `this.#worker` is null if the worker exited after its last reply, or if `close` terminated the worker.
    if (worker !== this.#worker) throw new Error('a matching thread exited');
    this.#ready = true;
    this.#options.onReady(this.#restartTimer !== null);
  }

  /**
   * Sends a catalog to the worker. Has no effect before the worker is ready, because `start` sends every required catalog to the worker.
   * Rejects if the worker exits or cannot use the catalog; a worker that cannot use the catalog continues to rank other catalogs.
   */
  async sendCatalogTables(tables: VersionedMatchTables): Promise<void> {
    if (this.isReady) await this.#sendMessage(this.#worker!, tables);
  }

  /** Ranks a batch. Call `match` only while `isReady` is true. Rejects if the worker exits or if its results cannot be decoded. */
  async match(batch: MatchBatch): Promise<MatchResult[]> {
    const worker = this.#worker!;
    try {
      const results = decodeMatchResults((await this.#sendMessage(worker, encodeMatchBatch(batch)))!);
      this.#restartDelayMs = 0;
      return results;
    } catch (error) {
      this.#onWorkerExit(worker, error);
      throw error;
    }
  }

  /** Terminates the worker and rejects the promises of the messages without a reply. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#ready = false;
    if (this.#restartTimer !== null) clearTimeout(this.#restartTimer);
    if (this.#worker !== null) await this.#terminateWorker(this.#worker, new Error('the matching thread is closed'));
  }

  /**
   * Sends the worker all catalogs that `listCurrentCatalogTables` returns. Calls `listCurrentCatalogTables` again after each sent catalog, because the list of
   * required catalogs may have changed.
   */
  async #sendCatalogs(worker: Worker): Promise<void> {
    const sent = new Set<string>();
    for (;;) {
      const next = this.#options.requiredTables().find(({ version }) => !sent.has(version));
      if (next === undefined) return;
      await this.#sendMessage(worker, next);
      sent.add(next.version);
    }
  }

  #sendMessage(worker: Worker, message: MatchThreadMessage): Promise<Uint8Array | undefined> {
    if (worker !== this.#worker) return Promise.reject(new Error('a matching thread exited'));
    const call = Promise.withResolvers<Uint8Array | undefined>();
    worker.postMessage(message);
    this.#pending.push(call);
    // `worker.ref` keeps the process alive until the worker has answered all messages.
    worker.ref();
    return call.promise;
  }

  #handleReply(worker: Worker, reply: MatchThreadReply): void {
    if (worker !== this.#worker) return;
    const call = this.#pending.shift()!;
    if (this.#pending.length === 0) worker.unref();
    if ('error' in reply) call.reject(reply.error);
    else call.resolve(reply.results);
  }

  #onWorkerExit(worker: Worker, error: unknown): void {
    if (worker !== this.#worker) return;
    void this.#terminateWorker(worker, error);
    // If a worker exits while it starts, `start` rejects, and the caller of `start` handles the error.
    if (!this.#ready) return;
    this.#ready = false;
    this.#scheduleRestart();
    this.#options.onExit(error, true);
  }

  async #terminateWorker(worker: Worker, error: unknown): Promise<void> {
    if (worker === this.#worker) {
      this.#worker = null;
      for (const call of this.#pending.splice(0)) call.reject(error);
    }
    await worker.terminate();
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
