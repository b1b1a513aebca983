import type { BucketScale } from './bucket-tally.ts';

const microsecondsInSecond = 1e6;

/** From what a session's fields take, some 100 us, to the deadline of two seconds and what it is late by. */
export const requestDurations: BucketScale = {
  ends: [
    50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000,
    2_500_000,
  ],
  perUnit: microsecondsInSecond,
};

/** A write to the kernel alone takes some 20 us, a sync from 100 us to, on a disk in trouble, seconds. */
export const storeDurations: BucketScale = {
  ends: [
    20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 5_000_000,
  ],
  perUnit: microsecondsInSecond,
};

/** A timer is late by up to two milliseconds on an idle loop. */
export const loopDelays: BucketScale = {
  ends: [1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000],
  perUnit: microsecondsInSecond,
};

export const groupRecords: BucketScale = { ends: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000], perUnit: 1 };

export const groupBytes: BucketScale = {
  ends: [256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216],
  perUnit: 1,
};

/** Up to `bounds.matchBatchMax`. */
export const batchRequests: BucketScale = { ends: [1, 2, 4, 8, 16, 32, 64], perUnit: 1 };
