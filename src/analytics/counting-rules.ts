import { bounds } from '../bounds.ts';
import { microsPerUsd } from '../domain/money.ts';
import { widgetEventTypes } from '../ledger/ledger-record.ts';
import type { WidgetCounts } from './analytics.ts';

/**
 * Returns the last cohort day whose sessions are matured (docs/contract.md#matured-figures). All sessions of a cohort are matured from the
 * 46th day after the cohort day, because a session matures when it is older than 45 days.
 */
export function lastMaturedCohortDay(today: number): number {
  return today - bounds.maturedDays - 1;
}

/**
 * Rounds a session's confirmed revenue to whole cents and returns the square of the cents. A sum of integers does not depend on the order
 * of addition. The rounding affects only the confidence interval.
 */
export function squareRevenueCents(confirmedMicros: number): number {
  return Math.round(confirmedMicros / (microsPerUsd / 100)) ** 2;
}

export const emptyWidgetCounts: WidgetCounts = widgetEventTypes.map(() => 0);

/** Adds `counts` to `sum` by event type. An event type that is missing in `counts` counts as 0. */
export function addWidgetCounts(sum: number[], counts: WidgetCounts): void {
  for (const type of sum.keys()) sum[type]! += counts[type] ?? 0;
}
