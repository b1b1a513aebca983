import { bounds } from '../bounds.ts';

/**
 * For how long the oldest record has been durable that is not folded yet. The positions the ledger had at some moments are
 * marked until they are folded: the first of them tells. However long the aggregator is away, the marks are bounded in number;
 * they come to lie further apart then, and the answer is as exact as that.
 */
export class FoldLag {
  #marks: { readonly position: number; readonly atMs: number }[] = [];
  #apartMs: number = bounds.foldLagMarkedMs;

  /** The ledger is durable up to `durable` and folded up to `folded`. Positions and times ascend from call to call. */
  note(durable: number, folded: number, nowMs: number): void {
    const last = this.#marks.at(-1);
    if (last !== undefined && nowMs - last.atMs < this.#apartMs) return;
    this.#forget(folded);
    if (durable <= folded) return;
    if (this.#marks.length === bounds.foldLagMarksMax) {
      this.#marks = this.#marks.filter((_, at) => at % 2 === 0);
      this.#apartMs *= 2;
    }
    this.#marks.push({ position: durable, atMs: nowMs });
  }

  /** Milliseconds; 0 when everything is folded. */
  read(durable: number, folded: number, nowMs: number): number {
    this.#forget(folded);
    if (durable <= folded) return 0;
    if (this.#marks.length === 0) this.note(durable, folded, nowMs);
    return nowMs - this.#marks[0]!.atMs;
  }

  #forget(folded: number): void {
    const first = this.#marks.findIndex(({ position }) => position > folded);
    this.#marks.splice(0, first === -1 ? this.#marks.length : first);
    if (this.#marks.length === 0) this.#apartMs = bounds.foldLagMarkedMs;
  }
}
