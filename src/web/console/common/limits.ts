/** Time after which the server counts as unreachable. The service itself answers a slow request with 503 after two seconds. */
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
/** Offers of one page, which is the limit of the API. Most accounts have fewer, so that the page can sort them. */
export const offersPerPage = 100;
/** Tags in a list from which the user chooses; with more tags, the user can also enter one. This is the limit of the API. */
export const tagSuggestionsMax = 100;
/** Pause after the last input before a form requests an estimate. */
export const inputPauseMs = 500;
/** Limits of an experiment. The API checks them; the form only avoids useless input. */
export const armsMin = 2;
export const armsMax = 10;
export const labelCharactersMax = 64;
export const hypothesisCharactersMax = 500;
