import type { Machine } from '../machine.ts';
import { median } from '../statistics.ts';
import type { CheckedRatio, RepeatedRatio } from './figure.ts';
import { logSpread, lossThreshold } from './noise.ts';

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

export interface BaselineRatio extends Omit<CheckedRatio, 'value'> {
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
