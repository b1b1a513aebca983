/** Limits of the widget in the browser. A test compares the limits that depend on the server with `src/bounds.ts`. */
export const limits = {
  /** Maximum time for a request for offers, including its retries. */
  offersTimeoutMs: 10_000,
  attemptsMax: 3,
  /** Delay before the second attempt if the server requests none. The delay before the third attempt is twice as long. */
  retryDelayMs: 500,
  /** Maximum delay that a Retry-After header can set. A longer delay is reduced to this value. */
  retryAfterMsMax: 120_000,
  offersDefault: 5,
  offersMax: 20,
  /** Maximum number of placeholder cards. They fill a window and are rarely more than the offers that replace them. */
  placeholderCardsMax: 5,
  /** Maximum number of feature tags on a card. The details list all tags. */
  tagsShownMax: 3,
  /** Time for which an event waits for further events of its batch. */
  eventBatchDelayMs: 1_000,
  eventsPerBatchMax: 50,
  /** Maximum number of unsent events. Above this limit, the oldest events are dropped. */
  pendingEventsMax: 200,
  eventTimeoutMs: 10_000,
  /** Number of consecutive failures after which a batch is sent again only with the next event or when the visitor leaves the page. */
  eventFailuresMax: 4,
  /** Delay after the first failure if the server requests none. The delay doubles after each further failure. */
  eventRetryDelayMs: 2_000,
  /** Visible part of a card that counts as an impression if it is visible for `impressionDurationMs`. */
  impressionRatio: 0.5,
  impressionDurationMs: 1_000,
  /** Maximum delay of `setTimeout`. A timer with a longer delay would fire immediately. */
  timerMsMax: 2 ** 31 - 1,
} as const;

/** Parses a Retry-After header in seconds. Returns milliseconds, or null if it is absent or not a number. */
export function parseRetryAfterMs(header: string | null): number | null {
  if (header === null || !/^\d{1,6}$/.test(header)) return null;
  return Math.min(Number(header) * 1_000, limits.retryAfterMsMax);
}
