import { median } from '../statistics.ts';
import type { BaselineRatio } from './baseline.ts';
import type { RepeatedRatio } from './figure.ts';
import { lossShareOf } from './noise.ts';

/** A figure that moved by more than noise. */
export interface RatioChange {
  readonly name: string;
  readonly part: string;
  readonly before: number;
  readonly now: number;
  /** Share of speed; below 0 where it was won. */
  readonly lossShare: number;
  readonly threshold: number;
}

export interface Comparison {
  readonly losses: readonly RatioChange[];
  readonly gains: readonly RatioChange[];
  /** How many are neither. */
  readonly unchanged: number;
  /** In the baseline, and not measured now; and the other way round. */
  readonly missing: readonly string[];
  readonly added: readonly string[];
}

/** By the middle run of each figure. A gain is as large, seen from where it led, as a loss would have to be. */
export function compareWithBaseline(baseline: readonly BaselineRatio[], measured: readonly RepeatedRatio[]): Comparison {
  const now = new Map(measured.map((figure) => [figure.name, median(figure.values)]));
  const known = new Set(baseline.map(({ name }) => name));
  const changes = baseline.flatMap(({ name, part, better, median: before, threshold }): RatioChange[] => {
    const to = now.get(name);
    return to === undefined ? [] : [{ name, part, before, now: to, lossShare: lossShareOf(better, before, to), threshold }];
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
export function gainShare(lost: number): number {
  return -lost / (1 - lost);
}
