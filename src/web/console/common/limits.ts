/** A request that takes longer counts as unreachable. Above the two seconds after which the service gives up a request. */
export const requestTimeoutMs = 15_000;
/** Pause before an unreachable server is asked again. */
export const retryDelayMs = 5_000;
/** Difference between the clocks of the browser and the server from which the page warns. */
export const clockDifferenceMaxMs = 5 * 60_000;
/** Longest delay that browsers accept in `setTimeout`. */
export const timerMsMax = 2 ** 31 - 1;
/** Time for which a button shows that it has copied something. */
export const copiedNoticeMs = 2_000;
/** Longest key or token that the login form accepts. */
export const credentialCharactersMax = 200;
/** Rows of a table page, below the 100 of the API, so that a page is short enough to read. */
export const tableRowsPerPage = 25;
/** Loading notices appear after this time, so that fast answers do not flicker. */
export const loadingNoticeDelayMs = 250;
