import { setTimeout as pause } from 'node:timers/promises';

/** Cancels the queued tasks of a request. `ended` becomes true when the request is answered, is aborted or times out. */
export interface CancelSignal {
  readonly ended: boolean;
}

/** Returns a function that calls `create` once and returns the result to all callers. If `create` fails, the next call retries it. */
export function memoizeAsync<Result>(create: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | null = null;
  return () => {
    result ??= create().catch((error: unknown) => {
      result = null;
      throw error;
    });
    return result;
  };
}

/** Runs asynchronous tasks one after the other, in order of arrival. A full queue rejects new tasks. */
export class SerialQueue {
  readonly #waitingMax: number;
  #unfinishedCount = 0;
  #lastTask: Promise<unknown> = Promise.resolve();

  constructor(waitingMax: number) {
    this.#waitingMax = waitingMax;
  }

  /** Runs a task and returns its result. Returns null if the queue is full or if the task was cancelled before it started. */
  run<Result>(task: () => Promise<Result>, signal: CancelSignal | null = null): Promise<Result | null> | null {
    if (this.#unfinishedCount > this.#waitingMax) return null;
    this.#unfinishedCount++;
    const result = this.#lastTask.then(() => (signal?.ended ? null : task())).finally(() => this.#unfinishedCount--);
    // A failure is reported only to the caller of the failed task, so that the next task still runs.
    this.#lastTask = result.catch(() => {});
    return result;
  }
}

/** Runs an asynchronous task at fixed pauses, and once more at the end. Runs never overlap. */
export class PeriodicTask {
  readonly #run: () => Promise<void>;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;

  /** @param run must not reject */
  constructor(intervalMs: number, run: () => Promise<void>) {
    this.#run = run;
    this.#running = this.#runPeriodically(intervalMs);
  }

  /** Whether `close` has been called. */
  get isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Waits for a run in progress, and runs the task a last time. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    await this.#run();
  }

  async #runPeriodically(intervalMs: number): Promise<void> {
    const { signal } = this.#closing;
    for (;;) {
      await pause(intervalMs, null, { signal }).catch(() => {});
      if (signal.aborted) return;
      await this.#run();
    }
  }
}

/**
 * Waits for a promise up to a fixed time. Calls within the same tick share one timer, because a separate timer for each click would take
 * too much CPU time.
 */
export class SharedTimeout {
  readonly #waitMs: number;
  readonly #tickMs: number;
  readonly #timers = new Set<NodeJS.Timeout>();
  #current: Promise<'timeout'> | null = null;

  constructor(waitMs: number, tickMs: number) {
    this.#waitMs = waitMs;
    this.#tickMs = tickMs;
  }

  /** Returns the result of the promise, or `'timeout'` if the promise does not settle in time. A timeout may be up to `tickMs` late. */
  wait<Value>(promise: Promise<Value>): Promise<Value | 'timeout'> {
    return Promise.race([promise, this.#getTimeoutPromise()]);
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#current = null;
  }

  #getTimeoutPromise(): Promise<'timeout'> {
    if (this.#current === null) {
      this.#current = new Promise((resolve) => {
        this.#startTimer(this.#waitMs + this.#tickMs, () => resolve('timeout'));
      });
      this.#startTimer(this.#tickMs, () => {
        this.#current = null;
      });
    }
    return this.#current;
  }

  #startTimer(ms: number, action: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      action();
    }, ms);
    this.#timers.add(timer);
  }
}
