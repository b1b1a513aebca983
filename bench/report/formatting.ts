import type { Summary } from '../statistics.ts';

/** Number formats of the report. A dash stands for an unknown value. */

/** Formats a number with thousands separators. */
export function formatInteger(value: number | null): string {
  return value === null ? '-' : Math.round(value).toLocaleString('en-US');
}

export function formatDecimals(value: number | null, decimals: number): string {
  if (value === null) return '-';
  return value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

export function formatSummary({ median, lowest, highest }: Summary, decimals: number): string {
  return `${formatDecimals(median, decimals)} (${formatDecimals(lowest, decimals)} to ${formatDecimals(highest, decimals)})`;
}

/** Formats a rounded number: 40_000 becomes '40k', 1_500_000 becomes '1.5M'. */
export function formatShort(value: number): string {
  if (value >= 1e6) return `${threeDigits(value / 1e6)}M`;
  if (value >= 1e3) return `${threeDigits(value / 1e3)}k`;
  return threeDigits(value);
}

function threeDigits(value: number): string {
  return String(Number(value.toPrecision(3)));
}

/** Formats a count with a noun, such as '1 round' or '5 rounds'. */
export function pluralize(count: number, word: string): string {
  return `${formatInteger(count)} ${word}${count === 1 ? '' : 's'}`;
}

export function joinWords(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

const htmlEscapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for HTML elements and quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => htmlEscapes[character]!);
}

/** Escapes text for HTML and converts text in backticks to code elements. */
export function escapeWithCode(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

/** Serializes a value as JSON for a script element; the JSON does not contain `</script`. */
export function jsonForScript(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c');
}
