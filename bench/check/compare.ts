import { median } from '../statistics.ts';
import type { BaselineFigure } from './baseline.ts';
import type { RepeatedFigure } from './figure.ts';
import { shareLost } from './noise.ts';

/** A figure that moved by more than noise. */
export interface Change {
  readonly name: string;
  readonly part: string;
  readonly from: number;
  readonly to: number;
  /** Share of speed; below 0 where it was won. */
  readonly lost: number;
  readonly threshold: number;
}

export interface Comparison {
  readonly losses: readonly Change[];
  readonly gains: readonly Change[];
  /** How many are neither. */
  readonly steady: number;
  /** In the baseline, and not measured now; and the other way round. */
  readonly missing: readonly string[];
  readonly added: readonly string[];
}

/** By the middle run of each figure. A gain is as large, seen from where it led, as a loss would have to be. */
export function compare(baseline: readonly BaselineFigure[], measured: readonly RepeatedFigure[]): Comparison {
  const now = new Map(measured.map((figure) => [figure.name, median(figure.values)]));
  const known = new Set(baseline.map(({ name }) => name));
  const changes = baseline.flatMap(({ name, part, better, median: from, threshold }): Change[] => {
    const to = now.get(name);
    return to === undefined ? [] : [{ name, part, from, to, lost: shareLost(better, from, to), threshold }];
  });
  const losses = changes.filter(({ lost, threshold }) => lost > threshold);
  const gains = changes.filter(({ lost, threshold }) => shareWon(lost) > threshold);
  return {
    losses,
    gains,
    steady: changes.length - losses.length - gains.length,
    missing: baseline.map(({ name }) => name).filter((name) => !now.has(name)),
    added: [...now.keys()].filter((name) => !known.has(name)),
  };
}

/** Whether baseline and runs have nothing in common. */
export function isEmpty({ losses, gains, steady }: Comparison): boolean {
  return losses.length + gains.length + steady === 0;
}

/** What of the speed there is now would be lost by going back. */
export function shareWon(lost: number): number {
  return -lost / (1 - lost);
}
