const dollarsAndCents = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const wholeDollarsFormat = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  maximumFractionDigits: 0,
});
const plainNumber = new Intl.NumberFormat('en-US');
const dateFormat = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' });
const rateFormat = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 3 });
const percentFormat = new Intl.NumberFormat('en-US', {
  style: 'percent',
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});

/** Formats dollars and cents: `$541.30`. */
export const formatDollars = (usd: number): string => dollarsAndCents.format(usd);
/** Formats whole dollars: `$15,000`. */
export const formatWholeDollars = (usd: number): string => wholeDollarsFormat.format(usd);
/** Formats a count: `1,204`. */
export const formatCount = (number: number): string => plainNumber.format(number);
/** Formats a ratio as a percentage: `12.3%`. */
export const formatPercent = (ratio: number): string => percentFormat.format(ratio);

/** Formats a rate in percent: `6.50%`, `6.375%`. */
export const formatRate = (percent: number): string => `${rateFormat.format(percent)}%`;
/** Formats a range of rates: `6.50% to 9.25%`. */
export const formatPercentRange = ({ min, max }: { readonly min: number; readonly max: number }): string =>
  min === max ? formatRate(min) : `${formatRate(min)} to ${formatRate(max)}`;

/** Formats a date `YYYY-MM-DD`: `May 20, 2026`. */
export const formatDate = (date: string): string => dateFormat.format(Date.parse(date));

const abbreviations = new Set('ach apr apy atm cd fdic fha ncua ssn us usda va'.split(' '));

/**
 * Formats a feature tag: `no_prepayment_penalty` becomes `No prepayment penalty`, and `va_specialist` becomes `VA specialist`. There is no
 * list of tags, because new ones can appear.
 */
export function formatFeature(tag: string): string {
  const text = tag
    .split('_')
    .map((word) => (abbreviations.has(word) ? word.toUpperCase() : word))
    .join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Formats a duration, rounded up: `10 seconds`, `3 minutes`, `2 hours`. */
export function formatWait(seconds: number): string {
  if (seconds < 90) return pluralize(Math.max(1, Math.ceil(seconds)), 'second');
  if (seconds < 90 * 60) return pluralize(Math.ceil(seconds / 60), 'minute');
  return pluralize(Math.ceil(seconds / 3_600), 'hour');
}

function pluralize(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
