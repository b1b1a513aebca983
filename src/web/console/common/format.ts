const locale = 'en-US';
/** Text for a figure that the API does not have, such as a ratio without sessions. */
export const noValue = '–';
/** Space at which a line does not break. Stands between a number and its unit, and inside a date. */
export const unitSpace = '\u00a0';

const countFormat = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

const unitAfterNumber = new RegExp(`(?<=\\d) (?=%|USD\\b|(?:${months.join('|')})\\b)`, 'g');

/** Keeps each number of a sentence of the API on one line with its unit, and each day with its month. */
export function keepUnitsTogether(sentence: string): string {
  return sentence.replaceAll(unitAfterNumber, unitSpace);
}

type Figure = number | null | undefined;

function isMissing(value: Figure): value is null | undefined {
  return value === null || value === undefined || !Number.isFinite(value);
}

/** Rounds before the sign is formatted, so that no figure is `-0`. */
function formatFixed(value: number, digits: number): string {
  const text = Math.abs(value).toLocaleString(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return value < 0 && /[1-9]/.test(text) ? `−${text}` : text;
}

/** Formats a number of sessions, clicks and so on: `5,812`. */
export function formatCount(value: Figure): string {
  return isMissing(value) ? noValue : countFormat.format(value);
}

/** Formats an amount in USD with cents: `1,204.50 USD`. */
export function formatUsd(value: Figure): string {
  return isMissing(value) ? noValue : `${formatFixed(value, 2)}${unitSpace}USD`;
}

/** Formats an amount per session or click, which can be far below a dollar, with four decimals: `0.0312 USD`. */
export function formatUsdPerUnit(value: Figure): string {
  return isMissing(value) ? noValue : `${formatFixed(value, 4)}${unitSpace}USD`;
}

/** Formats a ratio from 0 to 1 in percent with one decimal: `12.3 %`. */
export function formatShare(value: Figure): string {
  return isMissing(value) ? noValue : `${formatFixed(value * 100, 1)}${unitSpace}%`;
}

/** Formats a number of percent with one decimal: `12.3 %`. */
export function formatPercent(value: Figure): string {
  return isMissing(value) ? noValue : `${formatFixed(value, 1)}${unitSpace}%`;
}

/** Formats a mean, such as that of a position, with one decimal: `2.4`. */
export function formatDecimal(value: Figure): string {
  return isMissing(value) ? noValue : formatFixed(value, 1);
}

/** Formats a relative difference with its sign: `+27.0 %`. */
export function formatRelative(value: Figure): string {
  return isMissing(value) ? noValue : `${value > 0 ? '+' : ''}${formatShare(value)}`;
}

/** Formats a p value with four decimals: `0.0312`. */
export function formatPValue(value: Figure): string {
  if (isMissing(value)) return noValue;
  return value < 0.0001 ? 'below 0.0001' : formatFixed(value, 4);
}

/** Formats a ratio that can be above 1, such as sessions per visitor: `1.083`. */
export function formatRatio(value: Figure): string {
  return isMissing(value) ? noValue : formatFixed(value, 3);
}

/** Formats the limits of an interval: `−0.0100 to 0.0423 USD`. The unit stands once. */
export function formatRange(low: Figure, high: Figure, format: (value: Figure) => string): string {
  if (isMissing(low) || isMissing(high)) return noValue;
  const [lower, upper] = [format(low), format(high)];
  const unit = /\u00a0(?:USD|%)$/.exec(lower)?.[0] ?? '';
  return `${lower.slice(0, lower.length - unit.length)} to ${upper}`;
}

/** Formats a UTC day such as `2027-02-12`: `12 Feb 2027`, without the word UTC, for columns whose header has it. */
export function formatDay(day: string | null | undefined): string {
  const parts = /^(\d{4})-(\d{2})-(\d{2})/.exec(day ?? '');
  if (parts === null) return noValue;
  const month = months[Number(parts[2]) - 1]?.slice(0, 3) ?? parts[2];
  return [Number(parts[3]), month, parts[1]].join(unitSpace);
}

/** Formats a UTC day in a text: `12 Feb 2027 UTC`. */
export function formatUtcDay(day: string | null | undefined): string {
  const text = formatDay(day);
  return text === noValue ? noValue : `${text}${unitSpace}UTC`;
}

/** Formats a timestamp of the API: `12 Feb 2027, 14:05`, without the word UTC, for columns whose header has it. */
export function formatTime(timestamp: string | null | undefined): string {
  const time = /T(\d{2}:\d{2})/.exec(timestamp ?? '');
  return time === null ? noValue : `${formatDay(timestamp)}, ${time[1]}`;
}

/** Formats a timestamp of the API in a text: `12 Feb 2027, 14:05 UTC`. */
export function formatUtcTime(timestamp: string | null | undefined): string {
  const text = formatTime(timestamp);
  return text === noValue ? noValue : `${text}${unitSpace}UTC`;
}

/** Returns the UTC day of a Unix time in milliseconds: `2027-02-12`. */
export function toIsoDay(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

/** Returns the day that is `days` days after a UTC day. */
export function addDays(day: string, days: number): string {
  return toIsoDay(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000);
}
