/**
 * Every bound of the widget's browser side, its unit in the name. The server's are in `src/bounds.ts`, which does not go
 * into browsers; a test holds the two together where they meet.
 */
export const limits = {
  /** From asking for offers to having them or saying that there are none to be had, further attempts included. */
  offersTimeoutMs: 10_000,
  attemptsMax: 3,
  /** Pause before the second attempt where the server names none; doubled before the third. */
  retryDelayMs: 500,
  /** The longest a Retry-After is obeyed for. */
  retryAfterMsMax: 120_000,
  offersDefault: 5,
  offersMax: 20,
  /** Cards that stand for those to come: enough for any window, and few enough to be there in the end. */
  placeholderCardsMax: 5,
  /** Feature tags a card shows; all are among its details. */
  tagsShownMax: 3,
  /** How long an event waits for company. */
  eventBatchDelayMs: 1_000,
  eventsPerBatchMax: 50,
  /** Events that wait to be told; beyond it the oldest are dropped. */
  pendingEventsMax: 200,
  eventTimeoutMs: 10_000,
  /** Failures in a row after which a batch waits for the next event, or for the page's end, instead of the clock. */
  eventFailuresMax: 4,
  /** Pause after the first failure where the server names none; doubled after each further one. */
  eventRetryDelayMs: 2_000,
  /** How much of a card has to be in sight, and for how long, to count as seen. */
  impressionRatio: 0.5,
  impressionDurationMs: 1_000,
  /** The longest a timer of browsers waits; a longer one would go off at once. */
  timerMsMax: 2 ** 31 - 1,
} as const;
