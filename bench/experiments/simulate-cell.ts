import {
  type ArmAtLook,
  addLook,
  createExperimentLooks,
  createLookPlan,
  type ExperimentLooks,
} from '../../src/experiments/experiment-looks.ts';
import { noUnits } from '../../src/statistics/arm-sums.ts';
import type { IntervalEstimate } from '../../src/statistics/fieller.ts';
import { seededRandom } from '../population/random.ts';
import { median } from '../statistics.ts';
import { type ArmModel, drawDay, estimateCountedShare, trueMeanUsd, type WorldModel } from './draw-days.ts';

/** Number of daily looks of each simulated experiment. */
export const looksPerRun = 135;

/** One setting of the simulation. */
export interface Cell {
  readonly name: string;
  readonly seed: number;
  /** The first arm is the control. */
  readonly arms: readonly ArmModel[];
  readonly world?: WorldModel;
  /** If the rule of a minimum number of days is turned off. */
  readonly withoutMinimumDays?: boolean;
}

/** Way to look at an experiment every day. */
export interface LookMethod {
  readonly name: string;
  /** Creates the function that adds a look, for a number of arms including the control. */
  readonly create: (
    arms: number,
  ) => (before: ExperimentLooks, day: number, arms: readonly ArmAtLook[]) => ExperimentLooks;
}

/** The methods of the service: an experiment with its planned day at the last look, and one without. */
export const serviceMethods: readonly LookMethod[] = [
  { name: 'planned day', create: (arms) => lookWith(arms, looksPerRun) },
  { name: 'no planned day', create: (arms) => lookWith(arms, null) },
];

function lookWith(arms: number, plannedDay: number | null): ReturnType<LookMethod['create']> {
  const plan = createLookPlan(arms, plannedDay);
  return (before, day, data) => addLook(before, plan, day, data);
}

export interface MethodResult {
  readonly method: string;
  readonly runs: number;
  /** Runs in which every arm had enough data for at least one look. */
  readonly opened: number;
  /** Runs in `opened` in which the intervals of all arms contained the true difference at all looks. */
  readonly covered: number;
  /** The same for the relative difference. A look without a relative difference counts as correct. */
  readonly relativeCovered: number;
  /** Runs with a decision for an arm that is equal to the control, or with the wrong sign. */
  readonly wrong: number;
  /** Runs in which an arm that is better than the control was found to be better. */
  readonly found: number;
  /** Median number of days until `found`; null without such runs. */
  readonly daysToFound: number | null;
}

interface Truth {
  readonly difference: number;
  readonly relative: number;
}

export interface CellResult {
  /** Estimated part of the payouts that is revenue of a mature session. */
  readonly countedShare: number;
  /** Results of the methods, in their order. */
  readonly methods: readonly MethodResult[];
}

/** Simulates `runs` experiments of a cell, and looks at each with each method. All methods see the same data. */
export function simulateCell(cell: Cell, runs: number, methods: readonly LookMethod[]): CellResult {
  const random = seededRandom(cell.seed);
  const world = cell.world ?? {};
  const countedShare = estimateCountedShare(world, random);
  const [control, ...others] = cell.arms.map((arm) => trueMeanUsd(arm, world, countedShare));
  const truths = others.map((mean) => ({
    difference: mean - control!,
    relative: mean / control! - 1,
  }));
  const tallies = methods.map((method) => new Tally(method, cell.arms.length, truths));
  for (let run = 0; run < runs; run++) {
    for (const tally of tallies) tally.startRun();
    const sums = cell.arms.map(() => noUnits);
    for (let day = 1; day <= looksPerRun; day++) {
      const data = cell.arms.map((arm, index) => {
        sums[index] = drawDay(random, arm, world, day, sums[index]);
        return { sums: sums[index], matureDays: cell.withoutMinimumDays ? looksPerRun : day };
      });
      for (const tally of tallies) tally.look(day, data);
    }
    for (const tally of tallies) tally.endRun();
  }
  return { countedShare, methods: tallies.map((tally) => tally.result(runs)) };
}

function contains({ low, high }: IntervalEstimate, truth: number): boolean {
  return low <= truth && truth <= high;
}

/** Counts the outcomes of one method over all runs of a cell. */
class Tally {
  readonly #method: LookMethod;
  readonly #arms: number;
  readonly #truths: readonly Truth[];
  readonly #addLook: ReturnType<LookMethod['create']>;
  #looks: ExperimentLooks;
  #hasLook = false;
  #isCovered = true;
  #isRelativeCovered = true;
  #opened = 0;
  #covered = 0;
  #relativeCovered = 0;
  #wrong = 0;
  readonly #foundDays: number[] = [];

  constructor(method: LookMethod, arms: number, truths: readonly Truth[]) {
    this.#method = method;
    this.#arms = arms;
    this.#truths = truths;
    this.#addLook = method.create(arms);
    this.#looks = createExperimentLooks(arms);
  }

  startRun(): void {
    this.#looks = createExperimentLooks(this.#arms);
    this.#hasLook = false;
    this.#isCovered = true;
    this.#isRelativeCovered = true;
  }

  look(day: number, arms: readonly ArmAtLook[]): void {
    this.#looks = this.#addLook(this.#looks, day, arms);
    if (!this.#looks.isGateOpen) return;
    for (const [index, { look }] of this.#looks.comparisons.entries()) {
      if (look === null) continue;
      const truth = this.#truths[index]!;
      this.#hasLook = true;
      if (!contains(look.difference, truth.difference)) this.#isCovered = false;
      if (look.relative !== null && !contains(look.relative, truth.relative)) this.#isRelativeCovered = false;
    }
  }

  endRun(): void {
    if (!this.#hasLook) return;
    this.#opened++;
    if (this.#isCovered) this.#covered++;
    if (this.#isRelativeCovered) this.#relativeCovered++;
    let isWrong = false;
    let foundDay = Number.POSITIVE_INFINITY;
    for (const [index, { final }] of this.#looks.comparisons.entries()) {
      if (final === null) continue;
      const truth = this.#truths[index]!.difference;
      const isTrue = final.decision === 'better' ? truth > 1e-9 : truth < -1e-9;
      if (!isTrue) isWrong = true;
      else if (final.decision === 'better') foundDay = Math.min(foundDay, final.day);
    }
    if (isWrong) this.#wrong++;
    if (foundDay !== Number.POSITIVE_INFINITY) this.#foundDays.push(foundDay);
  }

  result(runs: number): MethodResult {
    return {
      method: this.#method.name,
      runs,
      opened: this.#opened,
      covered: this.#covered,
      relativeCovered: this.#relativeCovered,
      wrong: this.#wrong,
      found: this.#foundDays.length,
      daysToFound: this.#foundDays.length > 0 ? median(this.#foundDays) : null,
    };
  }
}
