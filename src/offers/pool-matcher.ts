import { setTimeout } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { bounds } from '../bounds.ts';
import type { CancelSignal } from '../domain/cancel-signal.ts';
import type { Vertical } from '../verticals/vertical.ts';
import type { CompiledCatalog } from './compile-catalog.ts';
import { KeptThread } from './kept-thread.ts';
import type { Batch, BatchRequest, BatchResult } from './match-batch.ts';
import type { MatchWorkerData, PreparedTables } from './match-thread.ts';
import type { Matcher, MatchRequest, Ranking } from './matcher.ts';

/** What a worker says went wrong: a class of its own, so that a log can tell that the words are not ours. */
class WorkerFailure extends Error {}

export type TablesOfVersion = Pick<CompiledCatalog, 'version' | 'tables'>;

export interface PoolMatcherOptions {
  /** Matching threads, at least 1. */
  readonly threads: number;
  /** Where workers find a catalog by its version, should they be asked about one that is no longer in use. */
  readonly archiveFolder: string;
  readonly verticals: readonly Vertical[];
  /** The catalogs in use now: what a thread is made ready with, the first ones and those that replace them. */
  readonly inUse: () => readonly TablesOfVersion[];
  /** A thread ended that nobody ended, at work or idle, or could not be made ready: for the log. It is replaced. */
  readonly onFault?: (fault: unknown) => void;
  /** A thread that ended has been replaced by one that is ready. */
  readonly onReplaced?: () => void;
  /** How many requests travelled to a worker together. */
  readonly onBatch?: (requests: number) => void;
}

interface Waiting {
  readonly request: BatchRequest;
  readonly closed: Int32Array | null;
  readonly signal: CancelSignal | null;
  readonly resolve: (ranking: Ranking | null) => void;
  readonly reject: (fault: Error) => void;
  retried: boolean;
}

/** One thread and the batch it is at, or null while it idles. */
interface Lane {
  readonly thread: KeptThread;
  batch: readonly Waiting[] | null;
  /** Resolves when the last batch was answered or taken back. */
  answered: Promise<void>;
}

/**
 * Matches in worker threads. A request waits in one queue:
 *
 *     queued -> (a lane is ready and idle) -> in a batch -> answered
 *        ^   \-> cancelled -> null               | thread ended
 *        +---------------- once -----------------+-- the second time -> null
 *
 * Requests that arrive while all threads are busy travel together, as one message each way, since a message costs the
 * front end more than ranking does. A cancelled request never reaches a worker: it is removed when a batch is formed, or when the
 * queue is full and the request is at its head, where requests past their deadline are.
 *
 * A thread that ended is replaced at once, and gets no batch before it has every catalog in use; the other threads answer
 * meanwhile. Where there is no other, requests wait: with two catalogs of 20,000 offers the new thread takes some 0.8 seconds on a
 * busy machine, which is within every request's deadline and holds up nobody but who asks for offers. Ranking in the calling thread
 * would hold up everybody: cold indexes of that size take it 1.1 seconds for the first hundred borrowers, 190 ms for some one.
 * That a thread cannot be started is no reason for it either, since what ends threads may be what it would be given.
 */
export class PoolMatcher implements Matcher {
  readonly #lanes: readonly Lane[];
  readonly #inUse: () => readonly TablesOfVersion[];
  readonly #onFault: (fault: unknown) => void;
  readonly #onBatch: (requests: number) => void;
  readonly #queue: Waiting[] = [];
  /** Made ready last: in use from then on, or about to be. */
  #coming: TablesOfVersion | null = null;
  #dispatch: NodeJS.Immediate | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: PoolMatcherOptions) {
    const { threads, archiveFolder, verticals, inUse, onFault, onReplaced, onBatch } = options;
    this.#inUse = inUse;
    this.#onFault = onFault ?? (() => {});
    this.#onBatch = onBatch ?? (() => {});
    const workerData: MatchWorkerData = { archiveFolder, verticals };
    this.#lanes = Array.from({ length: threads }, () => ({
      thread: new KeptThread({
        workerData,
        needed: () => this.#needed(),
        onReady: (replaced) => {
          if (replaced) onReplaced?.();
          this.#dispatchQueue();
        },
        onEnd: (fault, wasReady) => this.#threadEnded(fault, wasReady),
      }),
      batch: null,
      answered: Promise.resolve(),
    }));
  }

  /** Resolves when every thread is ready with the catalogs in use. Rejects when one cannot be: then close it. */
  async start(): Promise<void> {
    await Promise.all(this.#lanes.map(({ thread }) => thread.start()));
  }

  get waiting(): number {
    return this.#lanes.reduce((sum, { batch }) => sum + (batch?.length ?? 0), this.#queue.length);
  }

  get threadsReady(): number {
    return this.#lanes.filter(({ thread }) => thread.ready).length;
  }

  /** The worker threads there are now, ready or not. */
  get threads(): Worker[] {
    return this.#lanes.flatMap(({ thread }) => thread.workers);
  }

  match({ catalogVersion, borrower, today, closed = null, signal = null }: MatchRequest): Promise<Ranking | null> {
    if (this.#closing !== null || this.#isFull()) return Promise.resolve(null);
    return new Promise((resolve, reject) => {
      const request: BatchRequest = [catalogVersion, today, ...borrower];
      this.#queue.push({ request, closed, signal, resolve, reject, retried: false });
      // Not at once: the other requests of this turn of the event loop can share the message.
      this.#dispatch ??= setImmediate(() => this.#dispatchQueue());
    });
  }

  /**
   * Gives every thread the tables of a catalog that is about to come into use; they are compiled once for all of them. One thread
   * after the other, so that the rest go on. Rejects when one cannot take it over, or ended over it.
   */
  async prepare(compiled: TablesOfVersion): Promise<void> {
    this.#coming = compiled;
    try {
      for (const { thread } of this.#lanes) if (this.#closing === null) await thread.prepare(preparedOf(compiled));
    } catch (fault) {
      this.#coming = null;
      if (this.#closing === null) throw fault;
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#dispatch !== null) clearImmediate(this.#dispatch);
    for (const { resolve } of this.#queue.splice(0)) resolve(null);
    const overdue = setTimeout(bounds.matcherCloseMs, undefined, { ref: false });
    await Promise.all(
      this.#lanes.map(async ({ thread, answered }) => {
        await Promise.race([answered, overdue]);
        await thread.close();
      }),
    );
  }

  #needed(): readonly PreparedTables[] {
    return [...this.#inUse(), ...(this.#coming === null ? [] : [this.#coming])].map(preparedOf);
  }

  #dispatchQueue(): void {
    this.#dispatch = null;
    const idle = this.#lanes.filter(({ thread, batch }) => batch === null && thread.ready);
    for (const [at, lane] of idle.entries()) {
      const share = Math.ceil(this.#queue.length / (idle.length - at));
      const batch = this.#takeWanted(Math.min(share, bounds.matchBatchMax));
      if (batch.length > 0) this.#send(lane, batch);
    }
  }

  /** Takes up to `most` requests from the head of the queue, and answers null to cancelled ones before and between them. */
  #takeWanted(most: number): Waiting[] {
    const batch: Waiting[] = [];
    let taken = 0;
    while (taken < this.#queue.length && batch.length < most) {
      const waiting = this.#queue[taken++]!;
      if (waiting.signal?.over) waiting.resolve(null);
      else batch.push(waiting);
    }
    this.#queue.splice(0, taken);
    return batch;
  }

  /** Cancelled requests at the head of a full queue make room. */
  #isFull(): boolean {
    if (this.#queue.length < bounds.matchQueueMax) return false;
    while (this.#queue[0]?.signal?.over) this.#queue.shift()!.resolve(null);
    return this.#queue.length >= bounds.matchQueueMax;
  }

  #send(lane: Lane, batch: readonly Waiting[]): void {
    lane.batch = batch;
    this.#onBatch(batch.length);
    lane.answered = lane.thread.match(batchOf(batch)).then(
      (answers) => this.#answer(lane, batch, answers),
      () => this.#takeBack(lane, batch), // Why it ended is told by the thread.
    );
  }

  #answer(lane: Lane, batch: readonly Waiting[], answers: readonly BatchResult[]): void {
    lane.batch = null;
    // The next batch goes first, so that the worker is busy while this one is handed out.
    this.#dispatchQueue();
    for (const [at, { request, resolve, reject }] of batch.entries()) {
      const answer = answers[at]!;
      if ('failure' in answer) {
        reject(new WorkerFailure(answer.failure));
        continue;
      }
      const { total, openOnly, orders } = answer;
      resolve({ catalogVersion: request[0], total, openOnly, orders });
    }
  }

  #takeBack(lane: Lane, batch: readonly Waiting[]): void {
    lane.batch = null;
    this.#queue.unshift(...this.#onceMore(batch));
    this.#dispatchQueue();
  }

  #threadEnded(fault: unknown, wasReady: boolean): void {
    this.#onFault(fault);
    // While no thread can be started, whoever waits is told so before long.
    if (!wasReady && this.#lanes.every(({ thread }) => !thread.ready)) {
      this.#queue.push(...this.#onceMore(this.#queue.splice(0)));
    }
  }

  /** Those that may try again; null to those that have done so. */
  #onceMore(failed: readonly Waiting[]): Waiting[] {
    const again: Waiting[] = [];
    for (const waiting of failed) {
      if (waiting.retried || this.#closing !== null) {
        waiting.resolve(null);
      } else {
        waiting.retried = true;
        again.push(waiting);
      }
    }
    return again;
  }
}

function preparedOf({ version, tables }: TablesOfVersion): PreparedTables {
  return { catalogVersion: version, tables };
}

function batchOf(waiting: readonly Waiting[]): Batch {
  const anyClosed = waiting.some(({ closed }) => closed !== null);
  return {
    requests: waiting.map(({ request }) => request),
    closed: anyClosed ? waiting.map(({ closed }) => closed) : [],
  };
}
