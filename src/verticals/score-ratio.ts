/**
 * Returns a ratio in millionths, rounded, as a part of a `recommended` score: sums of whole numbers have no rounding errors that could change
 * the order. The ratio must not be negative. `Math.floor` is several times faster here than `Math.round`.
 */
export function ratioMillionths(part: number, whole: number): number {
  return Math.floor((1_000_000 * part) / whole + 0.5);
}
