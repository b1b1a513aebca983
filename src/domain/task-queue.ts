/** Runs one task after the other, in the order they come; a bounded number of them waits. */
export class TaskQueue {
  readonly #waitingMax: number;
  #unfinished = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(waitingMax: number) {
    this.#waitingMax = waitingMax;
  }

  /** Null when too many wait already; else what the task comes to. */
  run<Result>(task: () => Promise<Result>): Promise<Result> | null {
    if (this.#unfinished > this.#waitingMax) return null;
    this.#unfinished++;
    const result = this.#last.then(task).finally(() => this.#unfinished--);
    // Whoever asked hears of a failure; the next in line does not care.
    this.#last = result.catch(() => {});
    return result;
  }
}
