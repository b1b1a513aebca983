/** Words that a tag writes small and people do not. */
const acronyms: Readonly<Record<string, string>> = { apr: 'APR', ach: 'ACH', us: 'US', ssn: 'SSN' };

/** `no_origination_fee` as people read it: `No origination fee`. Tags are an open list, so whatever comes is made readable. */
export function formatFeature(tag: string): string {
  const words = tag.split(/[_\s]+/).filter((word) => word !== '');
  const text = words.map((word) => acronyms[word] ?? word).join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const wholeDollarFormat = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  maximumFractionDigits: 0,
});
const centFormat = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });

/** `$10,000`: an amount in whole USD. */
export function formatDollars(amount: number): string {
  return wholeDollarFormat.format(amount);
}

/** `$341.48`: an amount to the cent. */
export function formatDollarsAndCents(amount: number): string {
  return centFormat.format(amount);
}

/** `24, 36 or 48 months`. */
export function formatMonths(terms: readonly number[]): string {
  const last = terms.at(-1);
  if (last === undefined) return '';
  return `${terms.length > 1 ? `${terms.slice(0, -1).join(', ')} or ` : ''}${last} months`;
}

/** `17.59%`: a rate as it is answered, with the two decimals that rates are quoted with. */
export function formatPercent(rate: number): string {
  return `${rate.toFixed(2)}%`;
}
