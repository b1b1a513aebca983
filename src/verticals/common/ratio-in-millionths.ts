/**
 * Returns the ratio `part / whole` in millionths, rounded to an integer. `recommended` scores are sums of such integers, because rounding
 * errors in a sum of fractions could change the order. The ratio must not be negative. `Math.floor` is several times faster here than
 * `Math.round`.
 */
export function ratioInMillionths(part: number, whole: number): number {
  return Math.floor((1_000_000 * part) / whole + 0.5);
}
