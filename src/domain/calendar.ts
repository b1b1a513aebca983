/** UTC calendar arithmetic on day numbers: whole days since 1970-01-01, so that a day is an integer key everywhere. */
export const dayMs = 86_400_000;

export function dayOf(wallMs: number): number {
  return Math.floor(wallMs / dayMs);
}

export function dayStartMs(day: number): number {
  return day * dayMs;
}

export function isoDate(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}

/** The day number of a real calendar date written `YYYY-MM-DD`, or null: 2023-02-29, 2023-2-1 and the year 0000 are not. */
export function parseIsoDate(text: string): number | null {
  if (!/^(?!0000)\d{4}-\d{2}-\d{2}$/.test(text)) return null;
  const ms = Date.parse(`${text}T00:00:00.000Z`);
  if (Number.isNaN(ms)) return null;
  const day = ms / dayMs;
  return isoDate(day) === text ? day : null;
}

let lastDay = Number.NaN;
let lastCompactDate = 0;

/**
 * A calendar date as one integer, 19871231 for 1987-12-31: compact, ordered, and free of time zones. Nearly always asked
 * for today, so the last answer is remembered.
 */
export function toCompactDate(day: number): number {
  if (day !== lastDay) {
    const date = new Date(day * dayMs);
    lastCompactDate = date.getUTCFullYear() * 10_000 + (date.getUTCMonth() + 1) * 100 + date.getUTCDate();
    lastDay = day;
  }
  return lastCompactDate;
}

/** Completed years between two compact dates. Someone born on 29 February turns a year older on 1 March of other years. */
export function completedYears(born: number, today: number): number {
  return Math.floor((today - born) / 10_000);
}

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

/** A wall time as JSON has it. */
export function isoTimestampOrNull(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
