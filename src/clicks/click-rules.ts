import { bounds } from '../bounds.ts';

/** Whether a click is early enough to count: at most 24 hours after the creation of its session. Times in Unix milliseconds. */
export function isWithinAttributionWindow(clickedMs: number, createdMs: number): boolean {
  return clickedMs - createdMs <= bounds.clickAttributionMs;
}

/** State of a session and an offer before a click. */
interface ClickContext {
  /** Whether the offer was shown to the session. */
  readonly wasShown: boolean;
  /** Whether a click of the session on the offer has counted. */
  readonly wasClicked: boolean;
  /** Creation time of the session. */
  readonly createdMs: number;
}

/** The counting rule of docs/contract.md#counting-clicks: the first click on a shown offer, within 24 hours, counts. */
export function classifyClick(
  { wasShown, wasClicked, createdMs }: ClickContext,
  clickedMs: number,
): 'counted' | 'unshown' | 'duplicate' | 'late' {
  if (!wasShown) return 'unshown';
  if (wasClicked) return 'duplicate';
  return isWithinAttributionWindow(clickedMs, createdMs) ? 'counted' : 'late';
}
