/** Limits of the widget in the browser. A test compares those that depend on the server with `src/bounds.ts`. */
export const limits = {
  /** For a request for offers, including its retries. */
  offersTimeoutMs: 10_000,
  attemptsMax: 3,
  /** Delay before the second attempt if the server names none; doubled before the third. */
  retryDelayMs: 500,
  /** A longer Retry-After is cut to this. */
  retryAfterMsMax: 120_000,
  offersDefault: 5,
  offersMax: 20,
  /** Placeholder cards: enough to fill a window, and rarely more than the offers that replace them. */
  placeholderCardsMax: 5,
  /** Feature tags of a card; the details list all of them. */
  tagsShownMax: 3,
  /** How long an event waits for further events of its batch. */
  eventBatchDelayMs: 1_000,
  eventsPerBatchMax: 50,
  /** Unsent events; beyond this the oldest are dropped. */
  pendingEventsMax: 200,
  eventTimeoutMs: 10_000,
  /** Consecutive failures after which a batch is retried only with the next event or at the end of the page. */
  eventFailuresMax: 4,
  /** Delay after the first failure if the server names none; doubled after each further one. */
  eventRetryDelayMs: 2_000,
  /** An impression needs this part of a card to be visible for this time. */
  impressionRatio: 0.5,
  impressionDurationMs: 1_000,
  /** Longest delay of setTimeout; a longer one would fire at once. */
  timerMsMax: 2 ** 31 - 1,
} as const;
