/** `17.59%`: a rate as it is answered, with the two decimals that rates are quoted with. */
export function formatPercent(rate: number): string {
  return `${rate.toFixed(2)}%`;
}
