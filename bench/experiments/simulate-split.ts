import { bounds } from '../../src/bounds.ts';
import { splitLogMartingale } from '../../src/statistics/split-check.ts';
import { drawSuccesses, seededRandom } from '../population/random.ts';
import { median } from '../statistics.ts';
import { looksPerRun } from './simulate-cell.ts';

const unitsPerDay = 600;

export interface SplitCell {
  readonly name: string;
  readonly seed: number;
  /** Intended part of the units in the first of two arms. */
  readonly intended: number;
  readonly actual: number;
}

export interface SplitResult {
  readonly runs: number;
  /** Runs in which the split was called invalid at some look. */
  readonly flagged: number;
  /** Median number of days until then; null without such runs. */
  readonly daysToFlag: number | null;
}

export const splitCells: readonly SplitCell[] = [
  { name: '50/50 as intended', seed: 101, intended: 0.5, actual: 0.5 },
  { name: '90/10 as intended', seed: 102, intended: 0.9, actual: 0.9 },
  { name: '52/48 instead of 50/50', seed: 103, intended: 0.5, actual: 0.52 },
  { name: '55/45 instead of 50/50', seed: 104, intended: 0.5, actual: 0.55 },
  { name: '91/9 instead of 90/10', seed: 105, intended: 0.9, actual: 0.91 },
];

/** Simulates `runs` experiments with a daily split check. */
export function simulateSplit({ seed, intended, actual }: SplitCell, runs: number): SplitResult {
  const random = seededRandom(seed);
  const flagDays: number[] = [];
  for (let run = 0; run < runs; run++) {
    let first = 0;
    for (let day = 1; day <= looksPerRun; day++) {
      first += drawSuccesses(random, unitsPerDay, actual);
      const logMartingale = splitLogMartingale([
        { units: first, weight: intended },
        { units: day * unitsPerDay - first, weight: 1 - intended },
      ]);
      if (logMartingale < Math.log(bounds.splitMartingaleMax)) continue;
      flagDays.push(day);
      break;
    }
  }
  return { runs, flagged: flagDays.length, daysToFlag: flagDays.length > 0 ? median(flagDays) : null };
}

/** Returns the intended splits that are called invalid too often, as text. */
export function findSplitFailures(
  results: readonly { readonly cell: SplitCell; readonly result: SplitResult }[],
): string[] {
  const share = 1 / bounds.splitMartingaleMax;
  return results
    .filter(({ cell: { intended, actual }, result: { runs, flagged } }) => {
      const tolerance = 3 * Math.sqrt((share * (1 - share)) / runs);
      return intended === actual && flagged / runs > share + tolerance;
    })
    .map(({ cell, result }) => `${cell.name}: called invalid in ${result.flagged} of ${result.runs}`);
}
