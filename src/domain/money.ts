/**
 * Inside the service an amount is a whole number of micro-dollars; only answers have dollars (docs/contract.md#cohorts). A number is exact
 * up to nine billion dollars of them, far beyond what one counter of one experiment can reach.
 */
export const microsPerUsd = 1_000_000;
const microsPerCent = microsPerUsd / 100;

export function usdToMicros(usd: number): number {
  return Math.round(usd * microsPerUsd);
}

/**
 * Micro-dollars of an amount in USD exactly as it is written, or null: below zero, a billion or more, or with more than six
 * decimals. The shortest decimal that stands for a number is what its sender wrote, so nothing is rounded.
 */
export function usdToExactMicros(usd: number): number | null {
  const digits = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(String(usd));
  if (digits === null) return null;
  const [, whole, fraction = ''] = digits;
  return Number(whole) * microsPerUsd + Number(fraction.padEnd(6, '0'));
}

/** Integer micro-dollars as the dollars of an answer, to the cent, half up: exact, since only the last division is not whole. */
export function microsToUsd(micros: number): number {
  return Math.floor((micros + microsPerCent / 2) / microsPerCent) / 100;
}

/**
 * Rounds half up, as a person with a pencil does: 1.005 becomes 1.01 though the nearest double lies below it. The nudge
 * is a few units in the last place, far below any figure that matters.
 */
export function roundHalfUp(value: number, decimals: number): number {
  const scale = 10 ** decimals;
  const scaled = value * scale;
  return Math.floor(scaled + 0.5 + Math.abs(scaled) * 4 * Number.EPSILON) / scale;
}
