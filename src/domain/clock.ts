/**
 * Source of time, which tests replace. Timestamps and expiry use wall-clock time. Minute windows (docs/contract.md#minute-windows) use
 * monotonic time, which does not change when the wall clock is set.
 */
export interface Clock {
  /** Returns the integer number of milliseconds since the Unix epoch. */
  wallMs(): number;
  /** Returns milliseconds since an arbitrary fixed time, with fractions. The returned value never decreases. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
