/**
 * Where time comes from. Every rule takes its time from here, so a test moves time instead of sleeping.
 *
 * Wall time stamps events and decides expiry; monotonic time measures minute windows (docs/contract.md#minute-windows), which must
 * not jump when an operator or NTP sets the wall clock.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch, UTC, an integer. */
  wallMs(): number;
  /** Milliseconds since some fixed moment of this process, with fractions; never goes back. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
};
