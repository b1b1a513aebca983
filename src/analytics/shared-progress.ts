import { bounds } from '../bounds.ts';

/**
 * What the front end and the aggregator thread tell each other all the time, in shared memory, so that no message is sent
 * for it: how far the ledger is durable, how far it is folded, and whether the aggregator looks at the former by itself.
 */
export class SharedProgress {
  readonly buffer: SharedArrayBuffer;
  readonly #cells: BigInt64Array;

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(cellCount * BigInt64Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer;
    this.#cells = new BigInt64Array(buffer, 0, cellCount);
  }

  get durablePosition(): number {
    return Number(Atomics.load(this.#cells, durableCell));
  }

  set durablePosition(position: number) {
    Atomics.store(this.#cells, durableCell, BigInt(position));
  }

  get projectedPosition(): number {
    return Number(Atomics.load(this.#cells, projectedCell));
  }

  set projectedPosition(position: number) {
    Atomics.store(this.#cells, projectedCell, BigInt(position));
  }

  /** Marks the aggregator awake; true when it was asleep and so must be woken by a message: only one of many callers is told so. */
  claimWakeUp(): boolean {
    return Atomics.exchange(this.#cells, awakeCell, 1n) === 0n;
  }

  /**
   * Marks the aggregator asleep, unless the ledger went on meanwhile: then it answers false and the aggregator stays awake.
   * Whoever stores a durable position and then claims the waking, in this order, cannot be missed.
   */
  trySleep(): boolean {
    Atomics.store(this.#cells, awakeCell, 0n);
    if (this.durablePosition <= this.projectedPosition) return true;
    // The writer may have claimed the waking in between; then its message finds the aggregator awake and does no harm.
    Atomics.store(this.#cells, awakeCell, 1n);
    return false;
  }
}

const durableCell = 0;
const projectedCell = 1;
const awakeCell = 2;
const cellCount = 3;

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
