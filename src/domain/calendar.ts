/** Milliseconds per day. In this file, a `day` is the number of days since 1970-01-01 UTC. */
export const msPerDay = 86_400_000;

export function daysSinceEpoch(wallMs: number): number {
  return Math.floor(wallMs / msPerDay);
}

export function dayStartMs(day: number): number {
  return day * msPerDay;
}

export function formatIsoDate(day: number): string {
  return new Date(day * msPerDay).toISOString().slice(0, 10);
}

/** Parses a calendar date `YYYY-MM-DD` into a day number. Returns null for an invalid date, such as 2023-02-29 or the year 0000. */
export function parseIsoDate(text: string): number | null {
  if (!/^(?!0000)\d{4}-\d{2}-\d{2}$/.test(text)) return null;
  const ms = Date.parse(`${text}T00:00:00.000Z`);
  if (Number.isNaN(ms)) return null;
  const day = ms / msPerDay;
  return formatIsoDate(day) === text ? day : null;
}

/** A UTC month. Months are numbered consecutively: the number of December is one less than that of the next January. */
export interface CalendarMonth {
  readonly number: number;
  readonly firstDay: number;
  /** First day of the next month. */
  readonly endDay: number;
}

let lastMonth: CalendarMonth = { number: 0, firstDay: 0, endDay: 0 };

/** Returns the month that contains a day. Caches one month, because most calls pass a day of the current month. */
export function monthOfDay(day: number): CalendarMonth {
  if (day < lastMonth.firstDay || day >= lastMonth.endDay) {
    const date = new Date(day * msPerDay);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
    lastMonth = {
      number: year * 12 + month,
      firstDay: Date.UTC(year, month, 1) / msPerDay,
      endDay: Date.UTC(year, month + 1, 1) / msPerDay,
    };
  }
  return lastMonth;
}

let lastDay = Number.NaN;
let lastCompactDate = 0;

/** Converts a day number to a date in the form YYYYMMDD, such as 19871231. Caches one date, because most calls pass the current day. */
export function toCompactDate(day: number): number {
  if (day !== lastDay) {
    const date = new Date(day * msPerDay);
    lastCompactDate = date.getUTCFullYear() * 10_000 + (date.getUTCMonth() + 1) * 100 + date.getUTCDate();
    lastDay = day;
  }
  return lastCompactDate;
}

/**
 * Returns the number of completed years between two dates in the form YYYYMMDD. A person born on 29 February becomes a year older on 1
 * March if the year is not a leap year.
 */
export function completedYearsBetween(born: number, today: number): number {
  return Math.floor((today - born) / 10_000);
}

/**
 * Number of entries in the cache of formatted timestamps: a prime number, so that times exactly four hours apart (creation and expiry of a
 * session) use different entries.
 */
const cacheSlots = 61;
const cachedMs = new Float64Array(cacheSlots).fill(Number.NaN);
const cachedText = new Array<string>(cacheSlots).fill('');

/** Formats a wall-clock time as ISO 8601 in UTC. Caches results, because many responses contain the same millisecond. */
export function formatIsoTimestamp(wallMs: number): string {
  const slot = wallMs % cacheSlots;
  if (cachedMs[slot] !== wallMs) {
    cachedText[slot] = new Date(wallMs).toISOString();
    cachedMs[slot] = wallMs;
  }
  return cachedText[slot]!;
}

const timestampPattern = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Parses an ISO 8601 timestamp with an offset from UTC. Returns Unix milliseconds, or null if the text is invalid. */
export function parseIsoTimestamp(text: string): number | null {
  const date = timestampPattern.exec(text)?.[1];
  // The date is checked separately, because Date.parse accepts 30 February and returns 2 March.
  if (date === undefined || parseIsoDate(date) === null) return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

export function formatIsoTimestampOrNull(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
