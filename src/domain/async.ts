/**
 * Tells queued work whether its result is still wanted: `over` becomes true when the request was aborted or answered, by its
 * deadline's 503 for example. An `Exchange` is one, so a request allocates nothing for it.
 */
export interface CancelSignal {
  readonly ended: boolean;
}

/** Makes something when it is first asked for, and never again: whoever asks gets the same, unless making it failed. */
export function memoizeAsync<Made>(make: () => Promise<Made>): () => Promise<Made> {
  let made: Promise<Made> | null = null;
  return () => {
    made ??= make().catch((fault: unknown) => {
      made = null;
      throw fault;
    });
    return made;
  };
}

/** Runs one task after the other, in the order they come; a bounded number of them waits. */
export class SerialQueue {
  readonly #waitingMax: number;
  #unfinishedCount = 0;
  #lastTask: Promise<unknown> = Promise.resolve();

  constructor(waitingMax: number) {
    this.#waitingMax = waitingMax;
  }

  /** Returns the result of the task, or null when too many tasks wait already or the task was cancelled before its turn. */
  run<Result>(task: () => Promise<Result>, signal: CancelSignal | null = null): Promise<Result | null> | null {
    if (this.#unfinishedCount > this.#waitingMax) return null;
    this.#unfinishedCount++;
    const result = this.#lastTask.then(() => (signal?.ended ? null : task())).finally(() => this.#unfinishedCount--);
    // Whoever asked hears of a failure; the next in line does not care.
    this.#lastTask = result.catch(() => {});
    return result;
  }
}
