/** `24, 36 or 48 months`. */
export function formatMonths(terms: readonly number[]): string {
  const last = terms.at(-1);
  if (last === undefined) return '';
  return `${terms.length > 1 ? `${terms.slice(0, -1).join(', ')} or ` : ''}${last} months`;
}
