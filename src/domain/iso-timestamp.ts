import { parseIsoDate } from './calendar.ts';

/** A prime, so that the times answered together, a session's beginning and its end hours later, do not share a place. */
const cacheSlots = 61;
const cachedMs = new Float64Array(cacheSlots).fill(Number.NaN);
const cachedText = new Array<string>(cacheSlots).fill('');

/** A wall time as the ISO 8601 UTC string of an answer. Answers of the same millisecond share one. */
export function isoTimestamp(wallMs: number): string {
  const place = wallMs % cacheSlots;
  if (cachedMs[place] !== wallMs) {
    cachedText[place] = new Date(wallMs).toISOString();
    cachedMs[place] = wallMs;
  }
  return cachedText[place]!;
}

const timestampPattern = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** The wall time of an ISO 8601 timestamp with its offset from UTC, to the millisecond, or null. */
export function parseIsoTimestamp(text: string): number | null {
  const date = timestampPattern.exec(text)?.[1];
  // Date.parse alone would take 30 February for 2 March.
  if (date === undefined || parseIsoDate(date) === null) return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}
