/** Limits of the widget script. A test verifies that limits shared with the server equal the values in `src/bounds.ts`. */
export const widgetLimits = {
  /** Maximum time in milliseconds for fetching offers, including retries. */
  offersTimeoutMs: 10_000,
  attemptsMax: 3,
  /** Delay before the second attempt to fetch offers, doubled before the third attempt, unless the server sends `Retry-After`. */
  retryDelayMs: 500,
  /** Maximum delay before a retry. A longer delay in a `Retry-After` header is reduced to `retryAfterMsMax`. */
  retryAfterMsMax: 120_000,
  offersDefault: 5,
  offersMax: 20,
  /** Maximum number of placeholder cards: enough to fill the browser window in most cases. */
  placeholderCardsMax: 5,
  /** Maximum number of feature tags outside the details section of an offer card. The details section lists all feature tags. */
  tagsShownMax: 3,
  /** Maximum number of reward rates of a credit card outside the details section. The details section lists all rates. */
  rewardsShownMax: 3,
  /** Time in milliseconds for which the first event of a batch waits for further events. */
  eventBatchDelayMs: 1_000,
  eventsPerBatchMax: 50,
  /** Maximum number of unsent events. When the queue of unsent events is full, the oldest events are dropped. */
  pendingEventsMax: 200,
  eventTimeoutMs: 10_000,
  /** Number of consecutive failures to send events after which only a new event, or a visitor who leaves the page, causes a retry. */
  eventFailuresMax: 4,
  /** Delay after the first failure to send events, unless the server sends `Retry-After`. Each further failure doubles the retry delay. */
  eventRetryDelayMs: 2_000,
  /** Share of an offer card's area that must be visible for `impressionDurationMs` to count as an impression of the offer. */
  impressionRatio: 0.5,
  impressionDurationMs: 1_000,
  /** Maximum delay of `setTimeout` in milliseconds. Browsers immediately fire a timer whose delay exceeds 2^31 - 1 ms. */
  timerMsMax: 2 ** 31 - 1,
} as const;

/** Converts a Retry-After header from seconds to milliseconds. Returns null if the Retry-After header is absent or not a number. */
export function parseRetryAfterMs(header: string | null): number | null {
  if (header === null || !/^\d{1,6}$/.test(header)) return null;
  return Math.min(Number(header) * 1_000, widgetLimits.retryAfterMsMax);
}
