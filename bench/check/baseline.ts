import type { Machine } from '../machine.ts';
import { median } from '../statistics.ts';
import type { Figure, RepeatedFigure } from './figure.ts';
import { spreadOf, thresholdOf } from './noise.ts';

const baselineFormat = 1;

/** What later commits are compared with. */
export interface Baseline {
  readonly format: typeof baselineFormat;
  /** ISO 8601. */
  readonly storedAt: string;
  readonly commit: string | null;
  readonly machine: Machine;
  readonly runs: number;
  readonly figures: readonly BaselineFigure[];
}

export interface BaselineFigure extends Omit<Figure, 'value'> {
  readonly median: number;
  /** Sigma of the logarithms of the runs. */
  readonly spread: number;
  /** The share of its speed that may be lost and still be noise. */
  readonly threshold: number;
}

export function makeBaseline(
  measured: readonly RepeatedFigure[],
  conditions: Pick<Baseline, 'storedAt' | 'commit' | 'machine' | 'runs'>,
): Baseline {
  const figures = measured.map(({ values, ...figure }) => {
    const spread = spreadOf(values);
    return {
      ...figure,
      median: rounded(median(values)),
      spread: rounded(spread),
      threshold: rounded(thresholdOf(spread)),
    };
  });
  return { format: baselineFormat, ...conditions, figures };
}

/** A figure that may lose more than this share without being told is of little use. */
const usefulThreshold = 0.25;

/** The figures that could not even tell a loss of a quarter. */
export function tooNoisy({ figures }: Baseline): BaselineFigure[] {
  return figures.filter(({ threshold }) => threshold > usefulThreshold);
}

/** Throws a one-line error when a text is no baseline. */
export function readBaseline(text: string): Baseline {
  const baseline = parsed(text);
  if (baseline?.format !== baselineFormat || !Array.isArray(baseline.figures)) {
    throw new Error('the baseline cannot be read: store a new one');
  }
  return baseline as Baseline;
}

function parsed(text: string): Partial<Baseline> | null {
  try {
    return JSON.parse(text) as Partial<Baseline> | null;
  } catch {
    return null;
  }
}

/** Four digits say enough, and let a new baseline be read as a change. */
function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
