/**
 * Source of time, which tests replace. Wall-clock time is used for timestamps and expiry. Monotonic time is used for minute windows
 * (docs/contract.md#minute-windows), because it does not change when the wall clock is set.
 */
export interface Clock {
  /** Returns the integer number of milliseconds since the Unix epoch. */
  wallMs(): number;
  /** Returns milliseconds since an arbitrary fixed time, with fractions. The value never decreases. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
