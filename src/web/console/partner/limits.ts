/** Days of the figures on the overview. */
export const overviewDays = 30;
/** Experiments on a page of the overview. The page requests the results of each one. */
export const overviewExperiments = 8;
/** Longest note of a closing, in characters. The API counts code points, of which there are at most as many. */
export const closingNoteCharactersMax = 500;
