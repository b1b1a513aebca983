import type { Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { bounds } from '../bounds.ts';
import type { Vertical } from '../verticals/vertical.ts';
import type { CompiledCatalog } from './compile-catalog.ts';
import { type Batch, type BatchRequest, type BatchResult, decodeAnswers, encodeBatch } from './match-batch.ts';
import type { MatchTables } from './match-tables.ts';
import type { Matcher, MatchRequest, Ranking } from './matcher.ts';

/** What a worker says went wrong: a class of its own, so that a log can tell that the words are not ours. */
class WorkerFailure extends Error {}

export interface PoolMatcherOptions {
  /** Matching threads, at least 1. */
  readonly threads: number;
  /** Where workers find a catalog by its version. */
  readonly archiveFolder: string;
  readonly verticals: readonly Vertical[];
  /** A worker died or could not start: for the log. Its requests were already seen to. */
  readonly onFault?: (fault: unknown) => void;
  /** How many requests travelled to a worker together. */
  readonly onBatch?: (requests: number) => void;
}

/** What a matching worker is started with. */
export interface MatchWorkerData {
  readonly archiveFolder: string;
  readonly verticals: readonly Vertical[];
}

/** What a worker is made ready with. */
export interface PreparedTables {
  readonly catalogVersion: string;
  readonly tables: MatchTables;
}

interface Waiting {
  readonly request: BatchRequest;
  readonly closed: Int32Array | null;
  readonly resolve: (ranking: Ranking | null) => void;
  readonly reject: (fault: Error) => void;
  retried: boolean;
}

/** One worker thread and the batch it is at, or null while it idles. */
interface Lane {
  readonly pool: Piscina;
  batch: readonly Waiting[] | null;
}

/**
 * Matches in worker threads. A request waits in one queue:
 *
 *     queued -> (a lane is idle) -> in a batch -> answered
 *        ^                             | worker died
 *        +--------- once --------------+-- the second time -> null
 *
 * Requests that arrive while all workers are busy travel together, as one message each way, since a message costs the
 * front end more than ranking does. Every lane is a Piscina of a single thread, so that a version can be made ready in
 * each of them; Piscina replaces a thread that died.
 */
export class PoolMatcher implements Matcher {
  readonly #lanes: readonly Lane[];
  readonly #onFault: (fault: unknown) => void;
  readonly #onBatch: (requests: number) => void;
  readonly #queue: Waiting[] = [];
  #dispatch: NodeJS.Immediate | null = null;
  #closing: Promise<void> | null = null;

  constructor({ threads, archiveFolder, verticals, onFault, onBatch }: PoolMatcherOptions) {
    this.#onFault = onFault ?? (() => {});
    this.#onBatch = onBatch ?? (() => {});
    const workerData: MatchWorkerData = { archiveFolder, verticals };
    this.#lanes = Array.from({ length: threads }, () => {
      const pool = new Piscina({
        filename: new URL('../../workers/match.ts', import.meta.url).href,
        workerData,
        minThreads: 1,
        maxThreads: 1,
        // One batch and one catalog being made ready; what is more was left by a thread that cannot start.
        maxQueue: 4,
        recordTiming: false,
      });
      const lane: Lane = { pool, batch: null };
      // A thread that died idle, or could not start.
      pool.on('error', (fault) => this.#workerDied(lane, lane.batch, fault));
      // A batch that waited for a thread to start is lost with it, and Piscina says so to nobody.
      pool.on('workerDestroy', () => {
        const { batch } = lane;
        if (batch !== null) setImmediate(() => this.#workerDied(lane, batch, new Error('a matching worker ended')));
      });
      return lane;
    });
  }

  get waiting(): number {
    return this.#lanes.reduce((sum, { batch }) => sum + (batch?.length ?? 0), this.#queue.length);
  }

  /** The worker threads there are now. */
  get threads(): Worker[] {
    return this.#lanes.flatMap(({ pool }) => pool.threads);
  }

  match({ catalogVersion, borrower, today, closed = null }: MatchRequest): Promise<Ranking | null> {
    if (this.#closing !== null || this.#queue.length >= bounds.matchQueueMax) return Promise.resolve(null);
    return new Promise((resolve, reject) => {
      this.#queue.push({ request: [catalogVersion, today, ...borrower], closed, resolve, reject, retried: false });
      // Not at once: the other requests of this turn of the event loop can share the message.
      this.#dispatch ??= setImmediate(() => this.#dispatchQueue());
    });
  }

  /** Gives every worker the tables of a catalog, which are compiled once for all of them. */
  async prepare({ version, tables }: Pick<CompiledCatalog, 'version' | 'tables'>): Promise<void> {
    const prepared: PreparedTables = { catalogVersion: version, tables };
    for (const { pool } of this.#lanes) if (this.#closing === null) await pool.run(prepared, { name: 'prepare' });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#dispatch !== null) clearImmediate(this.#dispatch);
    for (const { resolve } of this.#queue.splice(0)) resolve(null);
    await Promise.all(this.#lanes.map(({ pool }) => pool.close()));
  }

  #dispatchQueue(): void {
    this.#dispatch = null;
    const idle = this.#lanes.filter(({ batch }) => batch === null);
    for (const [at, lane] of idle.entries()) {
      if (this.#queue.length === 0) return;
      const share = Math.ceil(this.#queue.length / (idle.length - at));
      this.#send(lane, this.#queue.splice(0, Math.min(share, bounds.matchBatchMax)));
    }
  }

  #send(lane: Lane, batch: readonly Waiting[]): void {
    lane.batch = batch;
    this.#onBatch(batch.length);
    lane.pool
      .run(encodeBatch(batchOf(batch)))
      .then(decodeAnswers)
      .then(
        (answers) => this.#answer(lane, batch, answers),
        (fault) => this.#workerDied(lane, batch, fault),
      );
  }

  #answer(lane: Lane, batch: readonly Waiting[], answers: readonly BatchResult[]): void {
    if (lane.batch !== batch) return;
    lane.batch = null;
    // The next batch goes first, so that the worker is busy while this one is handed out.
    this.#dispatchQueue();
    for (const [at, { request, resolve, reject }] of batch.entries()) {
      const answer = answers[at]!;
      if ('failure' in answer) reject(new WorkerFailure(answer.failure));
      else resolve({ catalogVersion: request[0], total: answer.total, orders: answer.orders });
    }
  }

  #workerDied(lane: Lane, batch: readonly Waiting[] | null, fault: unknown): void {
    if (lane.batch !== batch) return; // Seen to already.
    this.#onFault(fault);
    if (batch === null) return;
    lane.batch = null;
    const again: Waiting[] = [];
    for (const waiting of batch) {
      if (waiting.retried || this.#closing !== null) {
        waiting.resolve(null);
      } else {
        waiting.retried = true;
        again.push(waiting);
      }
    }
    this.#queue.unshift(...again);
    this.#dispatchQueue();
  }
}

function batchOf(waiting: readonly Waiting[]): Batch {
  const anyClosed = waiting.some(({ closed }) => closed !== null);
  return {
    requests: waiting.map(({ request }) => request),
    closed: anyClosed ? waiting.map(({ closed }) => closed) : [],
  };
}
