import { type Planning, planUnits } from '../../src/statistics/planning.ts';
import type { ArmEstimate } from '../../src/statistics/variance-floor.ts';
import { type ArmModel, trueMeanUsd, type WorldModel } from './draw-days.ts';
import { type Cell, looksPerRun } from './simulate-cell.ts';

/** Cells with the same bounds, shown in one table. */
export interface CellGroup {
  readonly title: string;
  readonly text: string;
  /** Minimum of the joint coverage, before the tolerance of the simulation; null if the cells only show what a condition changes. */
  readonly coverageMin: number | null;
  readonly cells: readonly Cell[];
}

/** Units of all arms on one day. */
const unitsPerDay = 600;
const usual: ArmModel = { unitsPerDay: unitsPerDay / 2, payoutRate: 0.015, meanPayoutUsd: 100, sigma: 0.8 };

let lastSeed = 0;

function cell(name: string, arms: readonly ArmModel[], more: Partial<Cell> = {}): Cell {
  lastSeed++;
  return { name, seed: lastSeed * 1_000_003, arms, ...more };
}

/** Equal arms with the intended weights, and what differs from `usual`. */
function armsWith(weights: readonly number[], more: Partial<ArmModel> = {}): ArmModel[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => ({ ...usual, ...more, unitsPerDay: Math.round((unitsPerDay * weight) / total) }));
}

/** Changes the last arm. */
function withEffect(arms: readonly ArmModel[], { rate = 1, payout = 1 }): ArmModel[] {
  const last = arms.at(-1)!;
  const changed = { ...last, payoutRate: last.payoutRate * rate, meanPayoutUsd: last.meanPayoutUsd * payout };
  return [...arms.slice(0, -1), changed];
}

const effects = [
  ['equal', {}],
  ['+20 % payouts', { rate: 1.2 }],
  ['+20 % per payout', { payout: 1.2 }],
  ['+50 % payouts', { rate: 1.5 }],
  ['+50 % per payout', { payout: 1.5 }],
] as const;

function gridOf(splits: readonly (readonly number[])[], sigmas: readonly number[]): Cell[] {
  return sigmas.flatMap((sigma) =>
    splits.flatMap((weights) =>
      effects.map(([effect, change]) => {
        const shape = sigma === 0 ? 'flat' : `sigma ${sigma}`;
        return cell(`${shape}, ${weights.join('/')}, ${effect}`, withEffect(armsWith(weights, { sigma }), change));
      }),
    ),
  );
}

/** Visitors with up to four sessions. The payout rate is that of a visitor. */
const visitors: WorldModel = {
  sessionsPerUnit: [
    [4, 0.15],
    [2, 0.25],
    [1, 0.6],
  ],
};

/** Days after the cohort day until revenue must have occurred. */
const windowDays = 45;

/** Payouts after 15 days on average. 15 % of them are reversed, after 30 more days on average. */
const reversals: WorldModel = {
  isCounted: (random) => {
    const paidAt = -15 * Math.log(1 - random());
    if (paidAt > windowDays) return false;
    return random() >= 0.15 || paidAt - 30 * Math.log(1 - random()) > windowDays;
  },
};

/** Payouts after 15 days on average, reported in a file each week that arrives three days late. */
function weeklyFiles(graceDays: number): WorldModel {
  return {
    isCounted: (random, cohortDay) => {
      const paidAt = cohortDay - 15 * Math.log(1 - random());
      const reportedAt = Math.ceil(paidAt / 7) * 7 + 3;
      return paidAt <= cohortDay + windowDays && reportedAt <= cohortDay + windowDays + graceDays;
    },
  };
}

/** Both arms earn the same in a week, but one of them mostly on weekends. */
const weekdayArms: ArmModel[] = [
  { ...usual, unitsPerDay: 1_500, weekdayFactors: [1.2, 1.2, 1.2, 1.2, 1.2, 0.5, 0.5] },
  { ...usual, unitsPerDay: 1_500, weekdayFactors: [0.8, 0.8, 0.8, 0.8, 0.8, 1.5, 1.5] },
];

/** Returns two arms that have, on the last day, as many units as `planUnits` computes for a gain of 20 %. */
function plannedArms(daysToPlannedDay: number | null): ArmModel[] {
  const [control, arm] = withEffect([usual, usual], { rate: 1.2 }).map(estimateOf) as [ArmEstimate, ArmEstimate];
  const planning = planUnits({
    arm,
    control,
    armWeight: 1,
    controlWeight: 1,
    comparisons: 1,
    minEffect: 0.2,
    unitsPerDay: 0,
    daysToPlannedDay,
  }) as Planning;
  const perDay = Math.ceil(planning.unitsNeeded / looksPerRun);
  return withEffect(
    [
      { ...usual, unitsPerDay: perDay },
      { ...usual, unitsPerDay: perDay },
    ],
    { rate: 1.2 },
  );
}

/** The estimate that a million units of an arm have on average. */
function estimateOf(arm: ArmModel): ArmEstimate {
  const units = 1_000_000;
  const mean = trueMeanUsd(arm, {}, 1);
  const variance = (arm.payoutRate * arm.meanPayoutUsd ** 2 * Math.exp(arm.sigma ** 2) - mean ** 2) / units;
  return {
    sessions: units,
    units,
    unitsWithRevenue: units * arm.payoutRate,
    mean,
    variance,
    flooredVariance: variance,
  };
}

const twoArms = [50, 50];
const frequentArms: ArmModel[] = [0, 1].map(() => ({ ...usual, payoutRate: 0.3, unitsPerDay: 50 }));

export const cellGroups: readonly CellGroup[] = [
  {
    title: 'Two arms',
    text: 'Payouts are equal (flat), or log-normal with sigma as the standard deviation of the logarithm.',
    coverageMin: 0.95,
    cells: gridOf([twoArms, [90, 10]], [0, 0.8]),
  },
  {
    title: 'Extreme payouts, and several arms',
    text: 'With sigma 1.5, the largest 1 % of the payouts have 20 % of the revenue. In an experiment with several arms, all or all but one are equal.',
    coverageMin: 0.94,
    cells: [
      ...gridOf([twoArms, [90, 10]], [1.5]),
      ...[
        [70, 15, 15],
        [70, 7.5, 7.5, 7.5, 7.5],
      ].flatMap((weights) =>
        [effects[0], effects[3]].map(([effect, change]) =>
          cell(`sigma 0.8, ${weights.length} arms, ${effect}`, withEffect(armsWith(weights), change)),
        ),
      ),
    ],
  },
  {
    title: 'Other conditions',
    text:
      'Payouts have sigma 0.8, and the arms have equal weights. Reversals: 15 % of the payouts are reversed, after 30 days on average. Weekly files: payouts are ' +
      'reported once a week, three days late. Both only change the revenue that counts, in both arms alike.',
    coverageMin: 0.95,
    cells: [
      cell('30 % of the sessions have revenue, equal', frequentArms),
      cell('30 % of the sessions have revenue, +20 % per payout', withEffect(frequentArms, { payout: 1.2 })),
      cell('3 % of the sessions have revenue, equal', armsWith(twoArms, { payoutRate: 0.03 })),
      cell('visitors with 1 to 4 sessions, equal', armsWith(twoArms), { world: visitors }),
      cell('visitors with 1 to 4 sessions, +50 % payouts', withEffect(armsWith(twoArms), { rate: 1.5 }), {
        world: visitors,
      }),
      cell('reversals, equal', armsWith(twoArms), { world: reversals }),
      cell('reversals, +50 % payouts', withEffect(armsWith(twoArms), { rate: 1.5 }), { world: reversals }),
      cell('weekly files, no grace, equal', armsWith(twoArms), { world: weeklyFiles(0) }),
      cell('weekly files, 7 days of grace, equal', armsWith(twoArms), { world: weeklyFiles(7) }),
      cell('weekly files, 7 days of grace, +50 % payouts', withEffect(armsWith(twoArms), { rate: 1.5 }), {
        world: weeklyFiles(7),
      }),
    ],
  },
  {
    title: 'Minimum number of days',
    text:
      'The arms earn the same in a week: one mostly on working days, the other mostly on weekends. With 1,500 units a day, an arm has 25 units with revenue ' +
      'after one or two days. The intervals describe the days so far, so this condition has no bound; the minimum of 14 days makes the error small.',
    coverageMin: null,
    cells: [cell('minimum of 14 days', weekdayArms), cell('no minimum', weekdayArms, { withoutMinimumDays: true })],
  },
  {
    title: 'Planning',
    text:
      'One arm earns 20 % more. Both arms get as many units as the planning asks for, and the planning aims at finding this gain in 80 % of the ' +
      'experiments. In the first row, the planning is that for a planned day: compare the columns "planned day". In the second row, it is that ' +
      'without a planned day: compare the columns "none".',
    coverageMin: 0.95,
    cells: [
      cell('units for a planned day', plannedArms(looksPerRun)),
      cell('units for no planned day', plannedArms(null)),
    ],
  },
];
