/** Upper ends of buckets, ascending whole numbers, in the unit that is observed. */
export interface BucketBounds {
  readonly upperBounds: readonly number[];
  /** How many of the unit observed make one of the unit published: a million, where microseconds become seconds. */
  readonly unitsPerPublishedUnit: number;
}

/** Of one series: how many observations, what they add up to, and how many lie at or below each end; in the unit published. */
interface HistogramSnapshot {
  readonly count: number;
  readonly sum: number;
  readonly buckets: readonly { readonly end: number; readonly count: number }[];
}

/**
 * Counts observations in buckets, for a few series known beforehand. All memory is taken at once, so that observing is a
 * short search and two additions, and allocates nothing; a reading adds up.
 */
export class BucketHistogram {
  readonly #bounds: BucketBounds;
  readonly #upperBounds: Int32Array;
  /** For each series one count an end, and one for what lies above all of them. */
  readonly #counts: Float64Array;
  readonly #sums: Float64Array;

  constructor(bounds: BucketBounds, series = 1) {
    this.#bounds = bounds;
    this.#upperBounds = Int32Array.from(bounds.upperBounds);
    this.#counts = new Float64Array(series * (bounds.upperBounds.length + 1));
    this.#sums = new Float64Array(series);
  }

  /** @param value a whole number from 0 below 2^31 */
  observe(value: number, series = 0): void {
    const ends = this.#upperBounds;
    let bucket = 0;
    while (bucket < ends.length && value > ends[bucket]!) bucket++;
    this.#counts[series * (ends.length + 1) + bucket]! += 1;
    this.#sums[series]! += value;
  }

  snapshot(series = 0): HistogramSnapshot {
    const { upperBounds, unitsPerPublishedUnit } = this.#bounds;
    const first = series * (upperBounds.length + 1);
    let count = 0;
    const buckets = upperBounds.map((end, at) => {
      count += this.#counts[first + at]!;
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

/** From what a session's fields take, some 100 us, to the deadline of two seconds and what it is late by. */
export const requestDurationBuckets: BucketBounds = {
  upperBounds: [
    50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000,
    2_500_000,
  ],
  unitsPerPublishedUnit: microsPerSecond,
};

/** A write to the kernel alone takes some 20 us, a sync from 100 us to, on a disk in trouble, seconds. */
export const logWriteDurationBuckets: BucketBounds = {
  upperBounds: [
    20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 5_000_000,
  ],
  unitsPerPublishedUnit: microsPerSecond,
};

/** A timer is late by up to two milliseconds on an idle loop. */
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

/** Up to `bounds.matchBatchMax`. */
export const batchRequestsBuckets: BucketBounds = { upperBounds: [1, 2, 4, 8, 16, 32, 64], unitsPerPublishedUnit: 1 };
