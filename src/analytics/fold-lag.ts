import { bounds } from '../bounds.ts';

/**
 * For how long the oldest record has been durable that is not folded yet. The positions the ledger had at some moments are
 * marked until they are folded: the first of them tells. However long the aggregator is away, the marks are bounded in number;
 * they come to lie further apart then, and the answer is as exact as that.
 */
export class AnalyticsLag {
  #samples: { readonly position: number; readonly atMs: number }[] = [];
  #sampleIntervalMs: number = bounds.analyticsLagSampleIntervalMs;

  /** The ledger is durable up to `durable` and folded up to `folded`. Positions and times ascend from call to call. */
  recordPosition(durable: number, folded: number, nowMs: number): void {
    const last = this.#samples.at(-1);
    if (last !== undefined && nowMs - last.atMs < this.#sampleIntervalMs) return;
    this.#dropProjected(folded);
    if (durable <= folded) return;
    if (this.#samples.length === bounds.analyticsLagSamplesMax) {
      this.#samples = this.#samples.filter((_, at) => at % 2 === 0);
      this.#sampleIntervalMs *= 2;
    }
    this.#samples.push({ position: durable, atMs: nowMs });
  }

  /** Milliseconds; 0 when everything is folded. */
  measureMs(durable: number, folded: number, nowMs: number): number {
    this.#dropProjected(folded);
    if (durable <= folded) return 0;
    if (this.#samples.length === 0) this.recordPosition(durable, folded, nowMs);
    return nowMs - this.#samples[0]!.atMs;
  }

  #dropProjected(folded: number): void {
    const first = this.#samples.findIndex(({ position }) => position > folded);
    this.#samples.splice(0, first === -1 ? this.#samples.length : first);
    if (this.#samples.length === 0) this.#sampleIntervalMs = bounds.analyticsLagSampleIntervalMs;
  }
}
