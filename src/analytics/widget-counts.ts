import { widgetEventTypes } from '../events/ledger-record.ts';
import type { WidgetCounts } from './analytics.ts';

export const zeroWidgetCounts: WidgetCounts = widgetEventTypes.map(() => 0);

/** Adds counts to a sum; where they are shorter there were no events of the other types. */
export function addWidgetCounts(sum: number[], counts: WidgetCounts): void {
  for (const type of sum.keys()) sum[type]! += counts[type] ?? 0;
}
