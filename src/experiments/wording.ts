import { msPerDay } from '../domain/calendar.ts';
import type { ComparisonLook } from '../statistics/compare-arms.ts';
import type { FinalDecision } from './experiment-looks.ts';

const dayFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
const nameListFormat = new Intl.ListFormat('en-GB');

/** Formats a day as `3 March 2027 (UTC)`. */
export function formatDay(day: number): string {
  return `${dayFormat.format(day * msPerDay)} (UTC)`;
}

export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

/** Formats a count of things, such as `1 day` or `1,200 sessions`. */
export function formatCountOf(count: number, thing: string): string {
  return `${formatCount(count)} ${thing}${count === 1 ? '' : 's'}`;
}

/** Joins names as `A, B and C`. */
export function joinNames(names: readonly string[]): string {
  return nameListFormat.format(names);
}

type Rounding = 'up' | 'down' | 'nearest';

/** Rounds an amount >= 0. The tolerance keeps an amount that is exact but for the last bits. */
function roundTo(amount: number, decimals: number, rounding: Rounding): number {
  const scaled = amount * 10 ** decimals;
  if (rounding === 'nearest') return Math.round(scaled) / 10 ** decimals;
  const tolerance = 1e-9 * Math.max(1, scaled);
  const whole = rounding === 'up' ? Math.max(0, Math.ceil(scaled - tolerance)) : Math.floor(scaled + tolerance);
  return whole / 10 ** decimals;
}

// Created with the first percentage, because the first formatter takes 20 ms.
let percentFormat: Intl.NumberFormat | undefined;

/** Formats a share >= 0 as a percentage, with one decimal below 10 %. */
export function formatPercent(share: number, rounding: Rounding = 'nearest'): string {
  const percent = share * 100;
  const rounded = roundTo(percent, percent < 10 ? 1 : 0, rounding);
  percentFormat ??= new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });
  return `${percentFormat.format(rounded)} %`;
}

/** Formats an amount >= 0 in USD, with at least two decimals, and at least two digits of a smaller amount. */
export function formatUsd(usd: number, rounding: Rounding = 'nearest'): string {
  const decimals = usd >= 0.1 || usd === 0 ? 2 : Math.min(6, 1 - Math.floor(Math.log10(usd)));
  const options = { minimumFractionDigits: 2, maximumFractionDigits: decimals };
  return `${roundTo(usd, decimals, rounding).toLocaleString('en-US', options)} USD`;
}

/** Difference of one look in words. All numbers are magnitudes, so a loss has no minus sign. */
export interface DifferenceInWords {
  /** For example `27 %`. */
  readonly value: string;
  /** Lower and upper limit, such as `9 %` and `41 %`. */
  readonly low: string;
  readonly high: string;
  /** The interval, such as `between 9 % less and 41 % more` or `between 4 % and 55 % more`. */
  readonly range: string;
}

/**
 * Describes a difference in percent of the control, or in USD if the relative difference is unknown. Limits are rounded outward, so that the
 * words never claim more than the interval.
 */
export function describeDifference({ relative, difference }: ComparisonLook): DifferenceInWords {
  const { value, low, high } = relative ?? difference;
  const format = relative === null ? formatUsd : formatPercent;
  const lowText = format(Math.abs(low), low < 0 ? 'up' : 'down');
  const highText = format(Math.abs(high), high > 0 ? 'up' : 'down');
  const range =
    low >= 0
      ? `between ${lowText} and ${highText} more`
      : high <= 0
        ? `between ${highText} and ${lowText} less`
        : `between ${lowText} less and ${highText} more`;
  return { value: format(Math.abs(value)), low: lowText, high: highText, range };
}

/** Returns whether a look shows a difference in the direction of a final decision. */
export function isStillShown({ decision }: FinalDecision, { difference }: ComparisonLook): boolean {
  return decision === 'better' ? difference.low > 0 : difference.high < 0;
}
