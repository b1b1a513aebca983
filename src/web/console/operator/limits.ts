/** Limits of the operator console. A test compares those of the server with `src/bounds.ts`. */
export const limits = {
  /** Maximum number of rows in a request with confirmations. */
  rowsPerRequestMax: 500,
  /** Maximum size of a request with confirmations. */
  bodyBytesMax: 512 * 1024,
  /** Maximum length of a row in a confirmation file. */
  rowCharactersMax: 8 * 1024,
  /** Maximum number of times that a batch is sent before the upload pauses. */
  attemptsMax: 5,
  /** Delay before the first retry of a batch. Each retry doubles the delay. */
  retryDelayMs: 500,
  /** Maximum number of rejected rows that the console keeps for the file of rejected rows. */
  rejectedRowsKeptMax: 50_000,
  /** Number of rejected rows that the page shows. The file of rejected rows has all of them. */
  rejectedRowsShownMax: 20,
  /** Time after which the state of the service is loaded again. */
  statusRefreshMs: 5_000,
  /** Share of a limit from which the use of the limit is shown as a warning. */
  meterWarningShare: 0.8,
  /** Number of waiting rankings above which requests get 503. */
  pendingRankingsMax: 4_096,
  /** Maximum number of days by which the test clock advances at once. */
  advanceDaysMax: 92,
  /** Number of uploads on a page, below the form. */
  uploadsPerPage: 10,
  /** Number of origins on a page. */
  originsPerPage: 25,
  /** Maximum length of the name of an account. */
  accountCharactersMax: 64,
} as const;
