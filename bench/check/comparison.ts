import { median } from '../statistics.ts';

/** Cost of one operation in both checkouts, measured in turn in the same run. */
export interface CostPair {
  /** Name of the measured cost with its unit, which is the same in all runs. */
  readonly name: string;
  /** Name of the benchmark part that measures the cost. */
  readonly part: string;
  readonly base: number;
  readonly current: number;
  /** Cost in the current checkout, divided by the cost in the base. */
  readonly ratio: number;
}

/** Returns the medians of the costs and of the ratios of several pairs with the same name. */
export function medianPair(pairs: readonly CostPair[]): CostPair {
  return {
    ...pairs[0]!,
    base: median(pairs.map(({ base }) => base)),
    current: median(pairs.map(({ current }) => current)),
    ratio: median(pairs.map(({ ratio }) => ratio)),
  };
}

/** Cost of one operation over all runs. */
export interface CostComparison {
  readonly name: string;
  readonly part: string;
  /** Medians of the runs. */
  readonly base: number;
  readonly current: number;
  readonly runs: number;
  /** Cost in the current checkout, divided by the cost in the base: the median of the runs and its 95 % interval. */
  readonly ratio: { readonly median: number; readonly low: number; readonly high: number };
  /** Whether the current checkout is slower or faster, beyond the noise of the runs. */
  readonly verdict: 'slower' | 'faster' | 'same';
}

/** Largest probability that the median is below the interval, and largest probability that it is above the interval. */
const tailProbabilityMax = 0.025;

/** Minimum number of runs. With fewer runs, the interval of the sign test would be infinite. */
export const runsMin = 6;

/**
 * Returns the sign-test interval of the median: the interval between two of the sorted values that contains the true median with a
 * probability of at least 95 %, whatever the distribution of the values. With six values, the interval reaches from the lowest to the
 * highest value.
 */
export function medianInterval(values: readonly number[]): { readonly low: number; readonly high: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const count = sorted.length;
  // Probability that exactly `excluded` of the values are below the true median, as in tosses of a coin.
  let probability = 0.5 ** count;
  let tail = probability;
  let excluded = 0;
  while (tail <= tailProbabilityMax) {
    probability *= (count - excluded) / (excluded + 1);
    excluded++;
    tail += probability;
  }
  if (excluded === 0) return { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };
  return { low: sorted[excluded - 1]!, high: sorted[count - excluded]! };
}

/** Compares the costs of the checkouts over all runs. */
export function compareCosts(pairs: readonly CostPair[]): CostComparison[] {
  return [...Map.groupBy(pairs, ({ name }) => name).values()].map((runs) => {
    const { name, part, base, current, ratio: middle } = medianPair(runs);
    const ratio = { median: middle, ...medianInterval(runs.map((run) => run.ratio)) };
    const verdict = ratio.low > 1 ? 'slower' : ratio.high < 1 ? 'faster' : 'same';
    return { name, part, base, current, runs: runs.length, ratio, verdict };
  });
}

export function isLoss({ verdict }: CostComparison): boolean {
  return verdict === 'slower';
}

/** Formats the comparison of a cost as a line of text. */
export function formatComparison({ name, base, current, ratio, runs, verdict }: CostComparison): string {
  const mark = verdict === 'slower' ? 'LOSS' : verdict;
  const range = `${formatChange(ratio.low)} to ${formatChange(ratio.high)} in ${runs} runs`;
  return `${mark}: ${name}: ${formatCost(base)} -> ${formatCost(current)}, ${formatChange(ratio.median)} (${range})`;
}

function formatCost(cost: number): string {
  return String(Number(cost.toPrecision(3)));
}

function formatChange(ratio: number): string {
  const percent = (100 * (ratio - 1)).toFixed(1);
  return `${ratio >= 1 ? '+' : ''}${percent} %`;
}
