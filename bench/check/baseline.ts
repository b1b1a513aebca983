import type { Machine } from '../machine.ts';
import { computeRelativeSpread, computeSlowdown, computeSlowdownThreshold, median } from '../statistics.ts';
import type { ResultRatio, ResultRatioSeries } from './ratios.ts';

const baselineFormat = 1;

/** Stored speed ratios, with which later commits are compared. */
export interface BenchBaseline {
  readonly format: typeof baselineFormat;
  /** Time at which the baseline was stored, in ISO 8601 format. */
  readonly storedAt: string;
  readonly commit: string | null;
  readonly machine: Machine;
  readonly runs: number;
  readonly figures: readonly BaselineRatio[];
}

interface BaselineRatio extends Omit<ResultRatio, 'value'> {
  readonly median: number;
  /** Variation of the ratio between runs: the standard deviation of its logarithm. 0.05 means about 5 %. */
  readonly spread: number;
  /** Largest loss of speed that counts as noise, as a share of the baseline speed. */
  readonly threshold: number;
}

export function createBenchBaseline(
  measured: readonly ResultRatioSeries[],
  conditions: Pick<BenchBaseline, 'storedAt' | 'commit' | 'machine' | 'runs'>,
): BenchBaseline {
  const figures = measured.map(({ values, ...figure }) => {
    const spread = computeRelativeSpread(values);
    return {
      ...figure,
      median: roundToFourDigits(median(values)),
      spread: roundToFourDigits(spread),
      threshold: roundToFourDigits(computeSlowdownThreshold(spread)),
    };
  });
  return { format: baselineFormat, ...conditions, figures };
}

/** Throws a one-line error for an invalid baseline. */
export function parseBaseline(text: string): BenchBaseline {
  let baseline: BenchBaseline | null = null;
  try {
    baseline = JSON.parse(text);
  } catch {
    // If the text is not JSON, `baseline` stays null, and the check of its format throws.
  }
  if (baseline?.format !== baselineFormat || !Array.isArray(baseline.figures)) {
    throw new Error('invalid baseline; store a new one');
  }
  return baseline;
}

/** Rounds a number to four significant digits, so that a diff of the baseline file is readable. */
function roundToFourDigits(value: number): number {
  return Number(value.toPrecision(4));
}

/** Change of a speed ratio from the baseline to the current benchmark runs. */
interface RatioChange {
  readonly name: string;
  readonly part: string;
  readonly before: number;
  readonly now: number;
  /** Loss of speed, as a share of the baseline speed; negative for a gain. */
  readonly lossShare: number;
  readonly threshold: number;
}

interface Comparison {
  readonly losses: readonly RatioChange[];
  readonly gains: readonly RatioChange[];
  /** Number of speed ratios without a significant change since the baseline. */
  readonly unchanged: number;
  /** Names of speed ratios that are in the baseline, but not in the current runs. */
  readonly missing: readonly string[];
  /** Names of speed ratios that are in the current runs, but not in the baseline. */
  readonly added: readonly string[];
}

/**
 * Compares the medians of the current runs with the baseline. A speed increase counts as a gain only if the
 * change back to the speed before would count as a loss.
 */
export function compareWithBaseline(
  baseline: readonly BaselineRatio[],
  measured: readonly ResultRatioSeries[],
): Comparison {
  const now = new Map(measured.map((figure) => [figure.name, median(figure.values)]));
  const known = new Set(baseline.map(({ name }) => name));
  const changes = baseline.flatMap(({ better, median: before, spread: _, ...ratio }): RatioChange[] => {
    const to = now.get(ratio.name);
    return to === undefined ? [] : [{ ...ratio, before, now: to, lossShare: computeSlowdown(better, before, to) }];
  });
  const losses = changes.filter(({ lossShare, threshold }) => lossShare > threshold);
  const gains = changes.filter(({ lossShare, threshold }) => gainShare(lossShare) > threshold);
  return {
    losses,
    gains,
    unchanged: changes.length - losses.length - gains.length,
    missing: baseline.map(({ name }) => name).filter((name) => !now.has(name)),
    added: [...now.keys()].filter((name) => !known.has(name)),
  };
}

/** Returns the increase since the baseline as a share of the current speed. `lost` is the decrease as a share of the baseline speed. */
function gainShare(lost: number): number {
  return -lost / (1 - lost);
}

export const commandToStoreBaseline = 'bin/with-node node bench/check/main.ts --store';

/** Formats a comparison as lines of text, with the losses of speed first. */
export function formatComparison(
  baseline: BenchBaseline,
  { losses, gains, unchanged, missing, added }: Comparison,
): string[] {
  const commit = baseline.commit === null ? '' : `, commit ${baseline.commit}`;
  const since = `the baseline of ${baseline.storedAt.slice(0, 10)}${commit}`;
  const compared = losses.length + gains.length + unchanged;
  const describe = ({ name, before, now, threshold }: RatioChange, word: string, share: number) =>
    `${name}: ${Number(before.toPrecision(3))} -> ${Number(now.toPrecision(3))}, ${word}${formatPercent(share)} slower; ` +
    `threshold ${formatPercent(threshold)}`;
  return [
    ...losses.map((change) => `LOSS: ${describe(change, '', change.lossShare)}`),
    ...gains.map((change) => `better: ${describe(change, 'was ', gainShare(change.lossShare))}`),
    ...missing.map((name) => `not measured now: ${name}`),
    ...added.map((name) => `not in the baseline: ${name}`),
    losses.length > 0
      ? `${losses.length} of ${compared} ratios show a significant loss of speed since ${since}.`
      : `No loss: ${compared - gains.length} of ${compared} figures are within noise of ${since}.`,
    ...(gains.length + added.length > 0 && losses.length === 0
      ? [`To keep the gains, store a new baseline on an idle machine: ${commandToStoreBaseline}`]
      : []),
  ];
}

/** Returns a warning if the current machine differs from the machine of the baseline; otherwise null. */
export function differentMachineWarning(baseline: Machine, now: Machine): string | null {
  const same = (['cpu', 'cores', 'memoryGiB', 'disk'] as const).every((member) => baseline[member] === now[member]);
  const node = (version: string) => version.split('.')[0];
  if (same && node(baseline.node) === node(now.node)) return null;
  return (
    `DIFFERENT MACHINE: the baseline was measured on ${formatMachine(baseline)}; this machine is ${formatMachine(now)}. ` +
    'The ratios are still compared, but differences can be caused by the machine.'
  );
}

/** Returns a warning if other processes use the machine; otherwise null. */
export function busyMachineWarning({ loadAverage, cores }: Machine): string | null {
  if (loadAverage <= cores / 2) return null;
  return `BUSY MACHINE (load average ${loadAverage.toFixed(1)}): differences can be caused by other processes.`;
}

function formatMachine({ cpu, cores, memoryGiB, node, disk }: Machine): string {
  return `${cpu}, ${cores} cores, ${memoryGiB} GiB, ${disk}, Node.js ${node}`;
}

function formatPercent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
