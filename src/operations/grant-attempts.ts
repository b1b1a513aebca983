import { bounds } from '../bounds.ts';

/** Number of times that a click or confirmation waits for a part of a limit, at most `grantWaitMsMax` in total. */
export const grantAttemptsMax = bounds.grantWaitMsMax / bounds.grantRetryIntervalMs;
