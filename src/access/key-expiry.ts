import { dayStartMs, parseIsoDate } from '../domain/calendar.ts';
import { parseIsoTimestamp } from '../domain/iso-timestamp.ts';

/**
 * Wall time from which a key with the expiry `text` is refused (docs/contract.md#api-keys): a date `YYYY-MM-DD` lasts to the end of
 * that UTC day, an ISO 8601 timestamp, with its offset from UTC, is meant to the millisecond. Null for anything else.
 */
export function parseKeyExpiry(text: string): number | null {
  const day = parseIsoDate(text);
  if (day !== null) return dayStartMs(day + 1);
  return parseIsoTimestamp(text);
}
