import type { SummaryQuery } from '../../src/analytics/analytics.ts';
import { daysSinceEpoch } from '../../src/domain/calendar.ts';

/** Time of the test, in Unix milliseconds, and its day number. */
export const noon = Date.UTC(2026, 4, 20, 12);
export const today = daysSinceEpoch(noon);

/** Selects the sessions of `today` that `sessionCreatedRecord` creates by default. */
export const byTag: SummaryQuery = {
  account: 1,
  vertical: 1,
  mode: 'live',
  referrerTag: 'tag-one',
  subs: null,
  fromDay: today,
  toDay: today,
  today,
};
