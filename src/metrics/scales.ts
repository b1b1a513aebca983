import type { BucketBounds } from './bucket-tally.ts';

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

export const groupRecordsBuckets: BucketBounds = { upperBounds: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000], unitsPerPublishedUnit: 1 };

export const groupBytesBuckets: BucketBounds = {
  upperBounds: [256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216],
  unitsPerPublishedUnit: 1,
};

/** Up to `bounds.matchBatchMax`. */
export const batchRequestsBuckets: BucketBounds = { upperBounds: [1, 2, 4, 8, 16, 32, 64], unitsPerPublishedUnit: 1 };
