/** Cancels queued work: `ended` becomes true when the request was aborted or answered, for example because it timed out. */
export interface CancelSignal {
  readonly ended: boolean;
}

/** Returns a function that calls `create` once and shares its result. A failed call is repeated at the next request. */
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

/** Runs tasks one after the other, in order of arrival. The number of waiting tasks is limited. */
export class SerialQueue {
  readonly #waitingMax: number;
  #unfinishedCount = 0;
  #lastTask: Promise<unknown> = Promise.resolve();

  constructor(waitingMax: number) {
    this.#waitingMax = waitingMax;
  }

  /** Returns the result of the task, or null if the queue is full or the task was cancelled before it started. */
  run<Result>(task: () => Promise<Result>, signal: CancelSignal | null = null): Promise<Result | null> | null {
    if (this.#unfinishedCount > this.#waitingMax) return null;
    this.#unfinishedCount++;
    const result = this.#lastTask.then(() => (signal?.ended ? null : task())).finally(() => this.#unfinishedCount--);
    // A failure is reported to the caller of the task, not to the next task.
    this.#lastTask = result.catch(() => {});
    return result;
  }
}
