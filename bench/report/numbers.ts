import type { Summary } from '../statistics.ts';

/** How the report writes numbers; what is not known is a dash. */

/** With separators for thousands. */
export function whole(value: number | null): string {
  return value === null ? '-' : Math.round(value).toLocaleString('en-US');
}

export function fixed(value: number | null, decimals: number): string {
  if (value === null) return '-';
  return value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

export function withSpread({ median, lowest, highest }: Summary, decimals: number): string {
  return `${fixed(median, decimals)} (${fixed(lowest, decimals)} to ${fixed(highest, decimals)})`;
}

/** 3 -> '3', 40_000 -> '40k', 1_500_000 -> '1.5M'. */
export function short(value: number): string {
  if (value >= 1e6) return `${trimmed(value / 1e6)}M`;
  if (value >= 1e3) return `${trimmed(value / 1e3)}k`;
  return trimmed(value);
}

function trimmed(value: number): string {
  return String(Number(value.toPrecision(3)));
}

/** 1 round, 5 rounds. */
export function counted(count: number, word: string): string {
  return `${whole(count)} ${word}${count === 1 ? '' : 's'}`;
}

export function list(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}
