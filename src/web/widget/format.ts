import type { NumberRange } from './offer.ts';

/** Abbreviations in feature tags, which are displayed in upper case. */
const abbreviations = new Set('ach apr apy arm atm cd fdic fha heloc ira ncua nmls pmi ssn us usda va'.split(' '));

/**
 * Formats a feature tag of an offer for display: `no_origination_fee` becomes `No origination fee`. Catalogs define the feature tags of
 * their offers, so there is no list of all feature tags.
 */
export function formatOfferFeature(tag: string): string {
  const text = formatAsWords(tag);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Formats a tag for display within a sentence: `online_shopping` becomes `online shopping`. */
export function formatAsWords(tag: string): string {
  const words = tag.split(/[_\s]+/).filter((word) => word !== '');
  return words.map((word) => (abbreviations.has(word) ? word.toUpperCase() : word)).join(' ');
}

/** Formats a value that an offer may lack. Returns null if the value is null or undefined. */
export function formatIfPresent<Value>(
  value: Value | null | undefined,
  format: (value: Value) => string | null,
): string | null {
  return value === null || value === undefined ? null : format(value);
}

/** Joins the texts that are neither null nor empty. */
export function joinTexts(separator: string, ...texts: readonly (string | null)[]): string {
  return texts.filter((text) => text).join(separator);
}

function createDollarFormat(fractionDigits: number): Intl.NumberFormat {
  return new Intl.NumberFormat('en-US', {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: fractionDigits,
    maximumFractionDigits: fractionDigits,
  });
}

const wholeDollarFormat = createDollarFormat(0);
const centFormat = createDollarFormat(2);
const rateFormat = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 3 });
const shareFormat = new Intl.NumberFormat('en-US', { maximumFractionDigits: 3 });
const dateFormat = new Intl.DateTimeFormat('en-US', { dateStyle: 'long', timeZone: 'UTC' });

/** Formats an amount in USD without cents: `$10,000`. */
export function formatDollars(amount: number): string {
  return wholeDollarFormat.format(amount);
}

/** Formats an amount in USD with cents: `$341.48`, `−$12.00`. The minus sign is U+2212, which screen readers read aloud. */
export function formatDollarsAndCents(amount: number): string {
  return centFormat.format(amount).replace('-', '−');
}

/** Formats a fee or a limit in USD, with cents only if needed: `$95`, `$0.50`. */
export function formatFee(amount: number): string {
  return Number.isInteger(amount) ? formatDollars(amount) : formatDollarsAndCents(amount);
}

/** Formats a number that an offer may lack: `None` for 0. Returns null if the number is null or undefined. */
export function formatOrNone(
  number: number | null | undefined,
  format: (number: number) => string = formatFee,
): string | null {
  return formatIfPresent(number, (value) => (value === 0 ? 'None' : format(value)));
}

/** Formats a list of loan terms in months: `24, 36 or 48 months`. */
export function formatMonths(...terms: readonly number[]): string {
  const last = terms.at(-1);
  if (last === undefined) return '';
  const unit = last === 1 && terms.length === 1 ? 'month' : 'months';
  return `${terms.length > 1 ? `${terms.slice(0, -1).join(', ')} or ` : ''}${last} ${unit}`;
}

/** Formats a rate in percent with two decimals, or three if the rate has three: `17.59%`, `6.375%`. */
export function formatPercent(rate: number): string {
  return `${rateFormat.format(rate)}%`;
}

/** Formats a percentage with only the decimals that it has: `3%`, `1.5%`. */
export function formatShortPercent(percent: number): string {
  return `${shareFormat.format(percent)}%`;
}

/** Formats a range of rates in percent: `9.50% to 17.59%`, or `9.50%` if both rates are equal. */
export function formatPercentRange({ min, max }: NumberRange): string {
  return min === max ? formatPercent(min) : `${formatPercent(min)} to ${formatPercent(max)}`;
}

/** Formats a date YYYY-MM-DD: `May 20, 2026`. Returns null for an invalid date. */
export function formatDate(text: string): string | null {
  const timeMs = Date.parse(text);
  return Number.isNaN(timeMs) ? null : dateFormat.format(timeMs);
}
