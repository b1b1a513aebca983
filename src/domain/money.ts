/**
 * Micro-dollars per US dollar. Amounts are stored as integers in micro-dollars (docs/contract.md#cohorts), because such integers are exact
 * up to nine billion dollars.
 */
export const microsPerUsd = 1_000_000;

export function usdToMicros(usd: number): number {
  return Math.round(usd * microsPerUsd);
}

/**
 * Converts USD to micro-dollars without rounding: reads the digits of the shortest decimal form of the number. Returns null for a
 * negative amount, an amount of a billion or more, or an amount with more than six decimals.
 */
export function usdToExactMicros(usd: number): number | null {
  const digits = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(String(usd));
  if (digits === null) return null;
  const [, whole, fraction = ''] = digits;
  return Number(whole) * microsPerUsd + Number(fraction.padEnd(6, '0'));
}

/** Converts micro-dollars to USD without rounding, so that reported amounts add up. The result has at most six decimals. */
export function microsToUsd(micros: number): number {
  return micros / microsPerUsd;
}

/** Square cents in a square dollar. */
export const centsSquaredPerUsdSquared = 10_000;

/**
 * Rounds an amount to whole cents and returns the square of the cents. A sum of integers does not depend on the order of addition. The
 * rounding affects only confidence intervals.
 */
export function squareCents(micros: number): number {
  return Math.round(micros / (microsPerUsd / 100)) ** 2;
}

/**
 * Rounds half up: 1.005 becomes 1.01, although the double nearest to 1.005 is slightly smaller than 1.005. To correct such differences,
 * adds a tiny amount to the value before rounding.
 */
export function roundHalfUp(value: number, decimals: number): number {
  const scale = 10 ** decimals;
  const scaled = value * scale;
  return Math.floor(scaled + 0.5 + Math.abs(scaled) * 4 * Number.EPSILON) / scale;
}
