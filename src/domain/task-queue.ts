import type { CancelSignal } from './cancel-signal.ts';

/** Runs one task after the other, in the order they come; a bounded number of them waits. */
export class TaskQueue {
  readonly #waitingMax: number;
  #unfinished = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(waitingMax: number) {
    this.#waitingMax = waitingMax;
  }

  /** Returns the result of the task, or null when too many tasks wait already or the task was cancelled before its turn. */
  run<Result>(task: () => Promise<Result>, signal: CancelSignal | null = null): Promise<Result | null> | null {
    if (this.#unfinished > this.#waitingMax) return null;
    this.#unfinished++;
    const result = this.#last.then(() => (signal?.over ? null : task())).finally(() => this.#unfinished--);
    // Whoever asked hears of a failure; the next in line does not care.
    this.#last = result.catch(() => {});
    return result;
  }
}
