/** Correct spelling of each acronym in feature tags, by acronym in lower case. */
const acronyms: Readonly<Record<string, string>> = { apr: 'APR', ach: 'ACH', us: 'US', ssn: 'SSN' };

/**
 * Formats a feature tag of an offer for display: `no_origination_fee` becomes `No origination fee`. Catalogs define the feature tags of
 * their offers, so there is no list of all feature tags.
 */
export function formatOfferFeature(tag: string): string {
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

/** Formats an amount in USD without cents: `$10,000`. */
export function formatDollars(amount: number): string {
  return wholeDollarFormat.format(amount);
}

/** Formats an amount in USD with cents: `$341.48`. */
export function formatDollarsAndCents(amount: number): string {
  return centFormat.format(amount);
}

/** Formats a list of loan terms in months: `24, 36 or 48 months`. */
export function formatMonths(terms: readonly number[]): string {
  const last = terms.at(-1);
  if (last === undefined) return '';
  return `${terms.length > 1 ? `${terms.slice(0, -1).join(', ')} or ` : ''}${last} months`;
}

/** Formats a rate in percent with two decimals: `17.59%`. */
export function formatPercent(rate: number): string {
  return `${rate.toFixed(2)}%`;
}
