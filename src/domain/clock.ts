/**
 * The source of time, which tests replace. Wall-clock time is used for timestamps and expiry, monotonic time for minute windows
 * (docs/contract.md#minute-windows), which must not change when the wall clock is set.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch, UTC, an integer. */
  wallMs(): number;
  /** Milliseconds since a fixed time, with fractions; never decreases. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
