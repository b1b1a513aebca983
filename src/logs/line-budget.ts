/** How many lines of one kind a log may take: a bucket that holds `burst` and is filled at `perSecond`. */
export class LineBudget {
  readonly #perMs: number;
  readonly #burst: number;
  #left: number;
  #filledMs: number;

  constructor(perSecond: number, burst: number, nowMs: number) {
    this.#perMs = perSecond / 1000;
    this.#burst = burst;
    this.#left = burst;
    this.#filledMs = nowMs;
  }

  /** Takes a line's place; false where none is left. `nowMs` is monotonic. */
  take(nowMs: number): boolean {
    this.#left = Math.min(this.#burst, this.#left + (nowMs - this.#filledMs) * this.#perMs);
    this.#filledMs = nowMs;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
