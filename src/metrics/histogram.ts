export interface BucketBounds {
  /** Inclusive upper bounds of the buckets in ascending order, as integers in the unit of the observations. */
  readonly upperBounds: readonly number[];
  /** Number of observed units in one published unit, such as 1,000,000 for microseconds that are published as seconds. */
  readonly unitsPerPublishedUnit: number;
}

/** Count, sum and cumulative bucket counts of one series, in the published unit. */
interface HistogramSnapshot {
  readonly count: number;
  readonly sum: number;
  readonly buckets: readonly { readonly end: number; readonly count: number }[];
}

/** Histogram with a fixed number of series. All memory is allocated in advance, so recording an observation is fast. */
export class BucketHistogram {
  readonly #bounds: BucketBounds;
  readonly #upperBounds: Int32Array;
  /** Bucket counts of all series. Each series has one count per bucket, and one for values above the last bound. */
  readonly #counts: Float64Array;
  readonly #sums: Float64Array;

  constructor(bounds: BucketBounds, series = 1) {
    this.#bounds = bounds;
    this.#upperBounds = Int32Array.from(bounds.upperBounds);
    this.#counts = new Float64Array(series * (bounds.upperBounds.length + 1));
    this.#sums = new Float64Array(series);
  }

  /**
   * Adds a value to a series.
   *
   * @param value integer from 0 to 2^31 - 1
   */
  observe(value: number, series = 0): void {
    const upperBounds = this.#upperBounds;
    let bucket = 0;
    while (bucket < upperBounds.length && value > upperBounds[bucket]!) bucket++;
    this.#counts[series * (upperBounds.length + 1) + bucket]! += 1;
    this.#sums[series]! += value;
  }

  takeSnapshot(series = 0): HistogramSnapshot {
    const { upperBounds, unitsPerPublishedUnit } = this.#bounds;
    const first = series * (upperBounds.length + 1);
    let count = 0;
    const buckets = upperBounds.map((end, index) => {
      count += this.#counts[first + index]!;
      return { end: end / unitsPerPublishedUnit, count };
    });
    return {
      count: count + this.#counts[first + upperBounds.length]!,
      sum: this.#sums[series]! / unitsPerPublishedUnit,
      buckets,
    };
  }
}

/** Buckets for durations that are observed in microseconds and published in seconds. */
const microsecondBuckets = (upperBounds: readonly number[]): BucketBounds => ({
  upperBounds,
  unitsPerPublishedUnit: 1e6,
});
const countBuckets = (upperBounds: readonly number[]): BucketBounds => ({ upperBounds, unitsPerPublishedUnit: 1 });

/** Buckets for request durations. The fastest requests take about 100 us; the request deadline is 2 s. */
export const requestDurationBuckets = microsecondBuckets([
  50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000,
  2_500_000,
]);

/** Buckets for the duration of a log write. A `write` call takes about 20 us, and an `fsync` call takes from 100 us up to seconds. */
export const logWriteDurationBuckets = microsecondBuckets([
  20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 5_000_000,
]);

/** Buckets for the delay of timers. On an idle event loop, a timer is up to two milliseconds late. */
export const eventLoopDelayBuckets = microsecondBuckets([
  1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000,
]);

export const recordsPerWriteBuckets = countBuckets([1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000]);
export const bytesPerWriteBuckets = countBuckets([
  256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216,
]);
/** Number of requests in a matching batch, up to `bounds.matchBatchRequestsMax`. */
export const matchBatchSizeBuckets = countBuckets([1, 2, 4, 8, 16, 32, 64]);
