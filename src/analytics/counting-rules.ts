import { bounds } from '../bounds.ts';
import { microsPerUsd } from '../domain/money.ts';
import { widgetEventTypes } from '../ledger/ledger-record.ts';
import type { WidgetCounts } from './analytics.ts';

/**
 * The last cohort day whose sessions are matured (docs/contract.md#matured-figures). A session's age is taken as the difference of
 * day numbers, so that a cohort matures as one: on the 46th day after its own, when even its last session is older than
 * 45 times 24 hours.
 */
export function lastMaturedCohortDay(today: number): number {
  return today - bounds.maturedDays - 1;
}

/**
 * The square of a session's confirmed revenue, in cents squared: an integer, so that sums do not depend on their order.
 * Fractions of a cent are left out of the interval only; confirmed revenue itself keeps them.
 */
export function centsSquared(confirmedMicros: number): number {
  return Math.round(confirmedMicros / (microsPerUsd / 100)) ** 2;
}

export const zeroWidgetCounts: WidgetCounts = widgetEventTypes.map(() => 0);

/** Adds counts to a sum; where they are shorter there were no events of the other types. */
export function addWidgetCounts(sum: number[], counts: WidgetCounts): void {
  for (const type of sum.keys()) sum[type]! += counts[type] ?? 0;
}
