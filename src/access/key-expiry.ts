import { dayStartMs, parseIsoDate } from '../domain/calendar.ts';

const timestamp = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/**
 * The wall time from which a key that was told to expire at `text` is refused (D4): a date `YYYY-MM-DD` lasts to the end of
 * that UTC day, an ISO 8601 timestamp, with its offset from UTC, is meant to the millisecond. Null for anything else.
 */
export function parseExpiry(text: string): number | null {
  const day = parseIsoDate(text);
  if (day !== null) return dayStartMs(day + 1);
  const date = timestamp.exec(text)?.[1];
  // Date.parse alone would take 30 February for 2 March.
  if (date === undefined || parseIsoDate(date) === null) return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}
