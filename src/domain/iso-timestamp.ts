import { parseIsoDate } from './calendar.ts';

/** A prime, so that the times answered together, a session's beginning and its end hours later, do not share a place. */
const places = 61;
const rememberedMs = new Float64Array(places).fill(Number.NaN);
const rememberedText = new Array<string>(places).fill('');

/** A wall time as the ISO 8601 UTC string of an answer. Answers of the same millisecond share one. */
export function isoTimestamp(wallMs: number): string {
  const place = wallMs % places;
  if (rememberedMs[place] !== wallMs) {
    rememberedText[place] = new Date(wallMs).toISOString();
    rememberedMs[place] = wallMs;
  }
  return rememberedText[place]!;
}

const timestamp = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** The wall time of an ISO 8601 timestamp with its offset from UTC, to the millisecond, or null. */
export function parseTimestamp(text: string): number | null {
  const date = timestamp.exec(text)?.[1];
  // Date.parse alone would take 30 February for 2 March.
  if (date === undefined || parseIsoDate(date) === null) return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}
