import { bounds } from '../bounds.ts';

/**
 * Memory shared by the main thread and the aggregator thread: the durable and the applied ledger position, and whether the aggregator is
 * awake. While the aggregator is awake, it reads the durable position regularly and needs no `wake` message.
 */
export class AggregatorProgress {
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

  get appliedPosition(): number {
    return Number(Atomics.load(this.#cells, projectedCell));
  }

  set appliedPosition(position: number) {
    Atomics.store(this.#cells, projectedCell, BigInt(position));
  }

  /** Marks the aggregator as awake. Returns true if the aggregator was sleeping; the caller must then send a `wake` message. */
  markAggregatorAwake(): boolean {
    return Atomics.exchange(this.#cells, awakeCell, 1n) === 0n;
  }

  /**
   * If all durable records are applied, marks the aggregator as sleeping and returns true; otherwise returns false. The main thread must
   * store the durable position before it calls `markAggregatorAwake`; otherwise the aggregator could miss new records.
   */
  tryMarkAggregatorAsleep(): boolean {
    Atomics.store(this.#cells, awakeCell, 0n);
    if (this.durablePosition <= this.appliedPosition) return true;
    // The main thread may have sent a `wake` message in the meantime; a `wake` message to an awake aggregator has no effect.
    Atomics.store(this.#cells, awakeCell, 1n);
    return false;
  }
}

const durableCell = 0;
const projectedCell = 1;
const awakeCell = 2;
const cellCount = 3;

/**
 * Measures the analytics lag: the time since the oldest record that is not applied yet became durable. Stores samples of the durable ledger
 * position and their times. Above `analyticsLagSamplesMax` samples, half of the samples are deleted and the sample interval doubles, so the
 * lag is less exact.
 */
export class AnalyticsLag {
  #samples: { readonly position: number; readonly atMs: number }[] = [];
  #sampleIntervalMs: number = bounds.analyticsLagSampleIntervalMs;

  /** Stores a sample of the durable position. The arguments must not decrease from one call to the next. */
  addLagSample(durablePosition: number, appliedPosition: number, nowMs: number): void {
    const last = this.#samples.at(-1);
    if (last !== undefined && nowMs - last.atMs < this.#sampleIntervalMs) return;
    this.#removeOldLagSamples(appliedPosition);
    if (durablePosition <= appliedPosition) return;
    if (this.#samples.length === bounds.analyticsLagSamplesMax) {
      this.#samples = this.#samples.filter((_, index) => index % 2 === 0);
      this.#sampleIntervalMs *= 2;
    }
    this.#samples.push({ position: durablePosition, atMs: nowMs });
  }

  /** Returns the analytics lag in milliseconds; 0 if every durable record is applied. */
  measureLagMs(durablePosition: number, appliedPosition: number, nowMs: number): number {
    this.#removeOldLagSamples(appliedPosition);
    if (durablePosition <= appliedPosition) return 0;
    if (this.#samples.length === 0) this.addLagSample(durablePosition, appliedPosition, nowMs);
    return nowMs - this.#samples[0]!.atMs;
  }

  #removeOldLagSamples(appliedPosition: number): void {
    const first = this.#samples.findIndex(({ position }) => position > appliedPosition);
    this.#samples.splice(0, first === -1 ? this.#samples.length : first);
    if (this.#samples.length === 0) this.#sampleIntervalMs = bounds.analyticsLagSampleIntervalMs;
  }
}
