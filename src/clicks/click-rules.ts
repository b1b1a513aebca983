import { bounds } from '../bounds.ts';

/** Whether a click is early enough to count: at most 24 hours after the creation of its session. Times are Unix milliseconds. */
export function isWithinAttributionWindow(clickedMs: number, createdMs: number): boolean {
  return clickedMs - createdMs <= bounds.clickAttributionMs;
}

/** Facts about a session and an offer that determine whether a click counts. */
interface ClickContext {
  readonly wasShown: boolean;
  /** Whether the session has an earlier counted click on the offer. */
  readonly wasClicked: boolean;
  readonly createdMs: number;
}

/** Applies docs/contract.md#counting-clicks: in the first 24 hours of a session, the first click on each shown offer counts. */
export function classifyClick(
  { wasShown, wasClicked, createdMs }: ClickContext,
  clickedMs: number,
): 'counted' | 'unshown' | 'duplicate' | 'late' {
  if (!wasShown) return 'unshown';
  if (wasClicked) return 'duplicate';
  return isWithinAttributionWindow(clickedMs, createdMs) ? 'counted' : 'late';
}
