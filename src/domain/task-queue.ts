import type { CancelSignal } from './cancel-signal.ts';

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
