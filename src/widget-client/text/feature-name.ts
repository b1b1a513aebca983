/** Words that a tag writes small and people do not. */
const acronyms: Readonly<Record<string, string>> = { apr: 'APR', ach: 'ACH', us: 'US', ssn: 'SSN' };

/** `no_origination_fee` as people read it: `No origination fee`. Tags are an open list, so whatever comes is made readable. */
export function formatFeature(tag: string): string {
  const words = tag.split(/[_\s]+/).filter((word) => word !== '');
  const text = words.map((word) => acronyms[word] ?? word).join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
