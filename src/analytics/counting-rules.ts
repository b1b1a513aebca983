import { bounds } from '../bounds.ts';
import { unbookedReasons, widgetEventTypes } from '../ledger/ledger-record.ts';
import type { UnbookedClickCounts, WidgetCounts } from './analytics.ts';

/**
 * Returns the last cohort day whose sessions are matured (docs/contract.md#matured-figures). All sessions of a cohort are matured from the
 * 46th day after the cohort day, because a session matures when it is older than 45 days.
 */
export function lastMaturedCohortDay(today: number): number {
  return today - bounds.maturedDays - 1;
}

export const emptyWidgetCounts: WidgetCounts = widgetEventTypes.map(() => 0);
export const emptyUnbookedClickCounts: UnbookedClickCounts = unbookedReasons.map(() => 0);

/** Adds `counts` to `sum`, item by item, and returns `sum`. A missing item counts as 0; `sum` gets no further items. */
export function addCounts(sum: number[], counts: readonly number[]): number[] {
  for (const index of sum.keys()) sum[index]! += counts[index] ?? 0;
  return sum;
}
