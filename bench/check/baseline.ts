import type { Machine } from '../machine.ts';
import { logSpread, lossShareOf, lossThreshold, median } from '../statistics.ts';
import type { CheckedRatio, RepeatedRatio } from './ratios.ts';

const baselineFormat = 1;

/** What later commits are compared with. */
export interface Baseline {
  readonly format: typeof baselineFormat;
  /** ISO 8601. */
  readonly storedAt: string;
  readonly commit: string | null;
  readonly machine: Machine;
  readonly runs: number;
  readonly figures: readonly BaselineRatio[];
}

interface BaselineRatio extends Omit<CheckedRatio, 'value'> {
  readonly median: number;
  /** Sigma of the logarithms of the runs. */
  readonly spread: number;
  /** The share of its speed that may be lost and still be noise. */
  readonly threshold: number;
}

export function createBaseline(
  measured: readonly RepeatedRatio[],
  conditions: Pick<Baseline, 'storedAt' | 'commit' | 'machine' | 'runs'>,
): Baseline {
  const figures = measured.map(({ values, ...figure }) => {
    const spread = logSpread(values);
    return {
      ...figure,
      median: roundToFourDigits(median(values)),
      spread: roundToFourDigits(spread),
      threshold: roundToFourDigits(lossThreshold(spread)),
    };
  });
  return { format: baselineFormat, ...conditions, figures };
}

/** A figure that may lose more than this share without being told is of little use. */
const usefulThresholdMax = 0.25;

/** The figures that could not even tell a loss of a quarter. */
export function findNoisyRatios({ figures }: Baseline): BaselineRatio[] {
  return figures.filter(({ threshold }) => threshold > usefulThresholdMax);
}

/** Throws a one-line error when a text is no baseline. */
export function parseBaseline(text: string): Baseline {
  const baseline = parseJson(text);
  if (baseline?.format !== baselineFormat || !Array.isArray(baseline.figures)) {
    throw new Error('the baseline cannot be read: store a new one');
  }
  return baseline as Baseline;
}

function parseJson(text: string): Partial<Baseline> | null {
  try {
    return JSON.parse(text) as Partial<Baseline> | null;
  } catch {
    return null;
  }
}

/** Four digits say enough, and let a new baseline be read as a change. */
function roundToFourDigits(value: number): number {
  return Number(value.toPrecision(4));
}

/** A figure that moved by more than noise. */
interface RatioChange {
  readonly name: string;
  readonly part: string;
  readonly before: number;
  readonly now: number;
  /** Share of speed; below 0 where it was won. */
  readonly lossShare: number;
  readonly threshold: number;
}

interface Comparison {
  readonly losses: readonly RatioChange[];
  readonly gains: readonly RatioChange[];
  /** How many are neither. */
  readonly unchanged: number;
  /** In the baseline, and not measured now; and the other way round. */
  readonly missing: readonly string[];
  readonly added: readonly string[];
}

/** By the middle run of each figure. A gain is as large, seen from where it led, as a loss would have to be. */
export function compareWithBaseline(
  baseline: readonly BaselineRatio[],
  measured: readonly RepeatedRatio[],
): Comparison {
  const now = new Map(measured.map((figure) => [figure.name, median(figure.values)]));
  const known = new Set(baseline.map(({ name }) => name));
  const changes = baseline.flatMap(({ name, part, better, median: before, threshold }): RatioChange[] => {
    const to = now.get(name);
    return to === undefined
      ? []
      : [{ name, part, before, now: to, lossShare: lossShareOf(better, before, to), threshold }];
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

/** Whether baseline and runs have nothing in common. */
export function hasNoCommonRatio({ losses, gains, unchanged }: Comparison): boolean {
  return losses.length + gains.length + unchanged === 0;
}

/** What of the speed there is now would be lost by going back. */
function gainShare(lost: number): number {
  return -lost / (1 - lost);
}

export const storeCommand = 'bin/with-node node bench/check/main.ts --store';

/** What a comparison comes to, line by line: what was lost first. */
export function formatVerdict(baseline: Baseline, { losses, gains, unchanged, missing, added }: Comparison): string[] {
  const of = `the baseline of ${baseline.storedAt.slice(0, 10)}${baseline.commit === null ? '' : `, commit ${baseline.commit}`}`;
  const compared = losses.length + gains.length + unchanged;
  return [
    ...losses.map(
      (change) =>
        `LOSS: ${formatChange(change)}, ${formatPercent(change.lossShare)} slower; threshold ${formatPercent(change.threshold)}`,
    ),
    ...gains.map(
      (change) =>
        `better: ${formatChange(change)}, was ${formatPercent(gainShare(change.lossShare))} slower; threshold ${formatPercent(change.threshold)}`,
    ),
    ...missing.map((name) => `not measured now: ${name}`),
    ...added.map((name) => `not in the baseline: ${name}`),
    losses.length > 0
      ? `${losses.length} of ${compared} figures lost speed beyond noise since ${of}.`
      : `No loss: ${compared - gains.length} of ${compared} figures are within noise of ${of}.`,
    ...(gains.length + added.length > 0 && losses.length === 0
      ? [`To hold on to what was won, on a quiet machine: ${storeCommand}`]
      : []),
  ];
}

/** What makes a comparison weaker than it looks, or null. */
export function differentMachineWarning(baseline: Machine, now: Machine): string | null {
  const same = (['cpu', 'cores', 'memoryGiB', 'disk'] as const).every((member) => baseline[member] === now[member]);
  const node = (version: string) => version.split('.')[0];
  if (same && node(baseline.node) === node(now.node)) return null;
  return (
    `ANOTHER MACHINE: the baseline is of ${formatMachine(baseline)}; this is ${formatMachine(now)}. ` +
    'The ratios are compared all the same, but what differs may be the machine.'
  );
}

/** Others at work on the machine, or null. */
export function busyMachineWarning({ loadAverage, cores }: Machine): string | null {
  if (loadAverage <= cores / 2) return null;
  return `THIS MACHINE IS BUSY (load average ${loadAverage.toFixed(1)}): what differs may be its other work.`;
}

function formatMachine({ cpu, cores, memoryGiB, node, disk }: Machine): string {
  return `${cpu}, ${cores} cores, ${memoryGiB} GiB, ${disk}, Node.js ${node}`;
}

function formatChange({ name, before, now }: RatioChange): string {
  return `${name}: ${Number(before.toPrecision(3))} -> ${Number(now.toPrecision(3))}`;
}

function formatPercent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
