/** What several rounds of one measurement come to. */
export interface Summary {
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
}

/** The middle value, or the mean of the two middle ones. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

export function summarize(values: readonly number[]): Summary {
  return { median: median(values), lowest: Math.min(...values), highest: Math.max(...values) };
}

/** Of a normal distribution: its sigma over the middle distance from its middle. */
const sigmaOfMad = 1.4826;
/** What few values make the middle distance too small by, on average. Croux and Rousseeuw, COMPSTAT 1992, for 2 to 9 values. */
const smallSampleCorrections = [1.196, 1.495, 1.363, 1.206, 1.2, 1.14, 1.129, 1.107];
/** How many sigmas away is no longer noise. */
const noiseSigmas = 3;
/**
 * Two visits to a machine differ by more than the runs of one visit do, so nothing below this share is called a loss,
 * however close together the runs were.
 */
const lossThresholdMin = 0.08;
/** However far apart they were, half the speed lost is a loss. */
const lossThresholdMax = 0.5;

/** How far apart runs lie, as the sigma of their logarithms: 0.05 is about 5 %. One run alone tells nothing, hence 0. */
export function logSpread(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const logarithms = values.map(Math.log);
  const middle = median(logarithms);
  const distance = median(logarithms.map((logarithm) => Math.abs(logarithm - middle)));
  const correction = smallSampleCorrections[values.length - 2] ?? values.length / (values.length - 0.8);
  return sigmaOfMad * correction * distance;
}

/** The share of its speed that something must lose before it is called a loss. */
export function lossThreshold(spread: number): number {
  return Math.min(Math.max(1 - Math.exp(-noiseSigmas * spread), lossThresholdMin), lossThresholdMax);
}

/** The share of speed lost on the way from one figure to another; below 0 where speed was won. */
export function lossShareOf(better: 'higher' | 'lower', from: number, to: number): number {
  return better === 'higher' ? 1 - to / from : 1 - from / to;
}
