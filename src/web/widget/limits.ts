// Limits of the widget script. A test verifies that limits shared with the server equal the values in `src/bounds.ts`. The limits are single
// constants, because esbuild replaces these by their values.

/** Maximum time in milliseconds for fetching offers, including retries. */
export const offersTimeoutMs = 10_000;
export const attemptsMax = 3;
/** Delay before the second attempt to fetch offers, doubled before the third attempt, unless the server sends `Retry-After`. */
export const retryDelayMs = 500;
/** Maximum delay before a retry. A longer delay in a `Retry-After` header is reduced to `retryAfterMsMax`. */
const retryAfterMsMax = 120_000;
export const offersDefault = 5;
export const offersMax = 20;
/** Maximum number of placeholder cards: enough to fill the browser window in most cases. */
export const placeholderCardsMax = 5;
/** Maximum number of feature tags outside the details section of an offer card. The details section lists all feature tags. */
export const tagsShownMax = 3;
/** Maximum number of reward rates of a credit card outside the details section. The details section lists all rates. */
export const rewardsShownMax = 3;
/** Time in milliseconds for which the first event of a batch waits for further events. */
export const eventBatchDelayMs = 1_000;
export const eventsPerBatchMax = 50;
/** Maximum number of unsent events. When the queue of unsent events is full, the oldest events are dropped. */
export const pendingEventsMax = 200;
export const eventTimeoutMs = 10_000;
/** Number of consecutive failures to send events after which only a new event, or a visitor who leaves the page, causes a retry. */
export const eventFailuresMax = 4;
/** Delay after the first failure to send events, unless the server sends `Retry-After`. Each further failure doubles the retry delay. */
export const eventRetryDelayMs = 2_000;
/** Share of an offer card's area that must be visible for `impressionDurationMs` to count as an impression of the offer. */
export const impressionRatio = 0.5;
export const impressionDurationMs = 1_000;
/** Maximum delay of `setTimeout` in milliseconds. Browsers immediately fire a timer whose delay exceeds 2^31 - 1 ms. */
export const timerMsMax = 2 ** 31 - 1;

/** Converts a Retry-After header from seconds to milliseconds. Returns null if the Retry-After header is absent or not a number. */
export function parseRetryAfterMs(header: string | null): number | null {
  if (header === null || !/^\d{1,6}$/.test(header)) return null;
  return Math.min(Number(header) * 1_000, retryAfterMsMax);
}
