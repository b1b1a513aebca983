/**
 * Every bound of the widget's browser side, its unit in the name. The server's are in `src/bounds.ts`, which does not go
 * into browsers; a test holds the two together where they meet.
 */
export const limits = {
  /** From asking for offers to having them or saying that there are none to be had, further attempts included. */
  answerMs: 10_000,
  attemptsMax: 3,
  /** Pause before the second attempt where the server names none; doubled before the third. */
  retryMs: 500,
  /** The longest a Retry-After is obeyed for. */
  retryAfterMsMax: 120_000,
  offersDefault: 5,
  offersMax: 20,
  /** Cards that stand for those to come: enough for any window, and few enough to be there in the end. */
  cardsComingMax: 5,
  /** Feature tags a card shows; all are among its details. */
  tagsShown: 3,
  /** How long an event waits for company. */
  eventLingerMs: 1_000,
  eventsInBatchMax: 50,
  /** Events that wait to be told; beyond it the oldest are dropped. */
  eventsWaitingMax: 200,
  eventAnswerMs: 10_000,
  /** Failures in a row after which a batch waits for the next event, or for the page's end, instead of the clock. */
  eventFailuresMax: 4,
  /** Pause after the first failure where the server names none; doubled after each further one. */
  eventRetryMs: 2_000,
  /** How much of a card has to be in sight, and for how long, to count as seen. */
  impressionShare: 0.5,
  impressionMs: 1_000,
  /** The longest a timer of browsers waits; a longer one would go off at once. */
  timerMsMax: 2 ** 31 - 1,
} as const;
