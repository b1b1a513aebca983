export interface BucketBounds {
  /** Inclusive upper bounds in ascending order, as integers in the unit of the observations. */
  readonly upperBounds: readonly number[];
  /** Conversion of units: 1,000,000 if microseconds are observed and seconds are published. */
  readonly unitsPerPublishedUnit: number;
}

/** Count, sum and cumulative buckets of one series, in the published unit. */
interface HistogramSnapshot {
  readonly count: number;
  readonly sum: number;
  readonly buckets: readonly { readonly end: number; readonly count: number }[];
}

/**
 * Histogram of a fixed number of series. All memory is allocated by the constructor, so an observation costs a short search and two
 * additions.
 */
export class BucketHistogram {
  readonly #bounds: BucketBounds;
  readonly #upperBounds: Int32Array;
  /** For each series one count per bucket, and one for values above the last bound. */
  readonly #counts: Float64Array;
  readonly #sums: Float64Array;

  constructor(bounds: BucketBounds, series = 1) {
    this.#bounds = bounds;
    this.#upperBounds = Int32Array.from(bounds.upperBounds);
    this.#counts = new Float64Array(series * (bounds.upperBounds.length + 1));
    this.#sums = new Float64Array(series);
  }

  /** @param value integer from 0 to 2^31 - 1 */
  observe(value: number, series = 0): void {
    const upperBounds = this.#upperBounds;
    let bucket = 0;
    while (bucket < upperBounds.length && value > upperBounds[bucket]!) bucket++;
    this.#counts[series * (upperBounds.length + 1) + bucket]! += 1;
    this.#sums[series]! += value;
  }

  snapshot(series = 0): HistogramSnapshot {
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

const microsPerSecond = 1e6;

/** From below the fastest requests, about 100 us, to above the request deadline of two seconds. */
export const requestDurationBuckets: BucketBounds = {
  upperBounds: [
    50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000,
    2_500_000,
  ],
  unitsPerPublishedUnit: microsPerSecond,
};

/** A write to the kernel takes about 20 us, a sync at least 100 us and seconds on a failing disk. */
export const logWriteDurationBuckets: BucketBounds = {
  upperBounds: [
    20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 5_000_000,
  ],
  unitsPerPublishedUnit: microsPerSecond,
};

/** On an idle loop, a timer is up to two milliseconds late. */
export const loopDelayBuckets: BucketBounds = {
  upperBounds: [1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000],
  unitsPerPublishedUnit: microsPerSecond,
};

export const groupRecordsBuckets: BucketBounds = {
  upperBounds: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000],
  unitsPerPublishedUnit: 1,
};

export const groupBytesBuckets: BucketBounds = {
  upperBounds: [256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216],
  unitsPerPublishedUnit: 1,
};

/** Up to `bounds.matchBatchRequestsMax`. */
export const batchRequestsBuckets: BucketBounds = { upperBounds: [1, 2, 4, 8, 16, 32, 64], unitsPerPublishedUnit: 1 };
