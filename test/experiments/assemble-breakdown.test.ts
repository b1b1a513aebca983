import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { assembleBreakdown } from '../../src/experiments/assemble-breakdown.ts';
import type { GroupArmFigures } from '../../src/experiments/breakdown-figures.ts';
import { experimentResultsSchema } from '../../src/experiments/experiment-results.ts';
import { noUnits } from '../../src/statistics/arm-sums.ts';
import { experimentWith } from './experiment-fixture.ts';

const { definition } = experimentWith(3, { control: 'page-b', dimensions: ['ad'] });
const validator = Compile(Type.Required(Type.Pick(experimentResultsSchema, ['breakdown'])));

const none: GroupArmFigures = {
  sessions: 0,
  units: 0,
  views: 0,
  clicks: 0,
  attributedMicros: 0,
  confirmedMicros: 0,
  mature: noUnits,
};

/** Figures of 1,000 mature sessions, of which `count` have revenue, half of them `usd` and half of them three times as much. */
function arm(count: number, usd: number): GroupArmFigures {
  const revenues = Array.from({ length: count }, (_, index) => usd * (index % 2 === 0 ? 1 : 3));
  const total = revenues.reduce((sum, revenue) => sum + revenue, 0);
  const squares = revenues.reduce((sum, revenue) => sum + revenue ** 2, 0);
  return {
    sessions: 1_200,
    units: 1_200,
    views: 800,
    clicks: 200,
    attributedMicros: 5e6,
    confirmedMicros: total * 1e6,
    mature: {
      sessions: 1_000,
      units: 1_000,
      unitsWithRevenue: count,
      sessionsSquared: 1_000,
      revenueMicros: total * 1e6,
      revenueCentsSquared: squares * 1e4,
      revenueMicrosTimesSessions: total * 1e6,
    },
  };
}

function differences(arms: readonly GroupArmFigures[], isFilling = false) {
  const breakdown = assembleBreakdown(definition, 'ad', [{ kind: 'value', value: 'x', arms }], isFilling);
  assert.ok(validator.Check({ breakdown }), JSON.stringify(breakdown));
  const [group] = breakdown.groups;
  return group!.comparisons.map(({ arm, difference }) => [arm, difference] as const);
}

describe('breakdown of results', () => {
  it('has the figures of each arm in each group', () => {
    const figures = [arm(26, 10), arm(0, 0), none];
    const breakdown = assembleBreakdown(definition, 'ad', [{ kind: 'none', value: null, arms: figures }], false);
    assert.deepEqual([breakdown.group_by, breakdown.warning], ['ad', 'For ideas, not for decisions.']);
    const [{ kind, value, arms }] = breakdown.groups as [(typeof breakdown.groups)[number]];
    assert.deepEqual([kind, value], ['none', null]);
    const usual = { sessions: 1_200, units: 1_200, views: 800, clicks: 200, click_rate: 0.25, rev_attributed: 5 };
    assert.deepEqual(arms, [
      { referrer_tag: 'page-a', ...usual, units_with_revenue: 26, rev_confirmed: 520, revenue_per_session: 0.52 },
      { referrer_tag: 'page-b', ...usual, units_with_revenue: 0, rev_confirmed: 0, revenue_per_session: 0 },
      {
        referrer_tag: 'page-c',
        sessions: 0,
        units: 0,
        units_with_revenue: 0,
        views: 0,
        clicks: 0,
        click_rate: 0,
        rev_attributed: 0,
        rev_confirmed: 0,
        revenue_per_session: null,
      },
    ]);
  });

  it('compares each arm with the control from 25 units with revenue in both', () => {
    const [[first, difference], [second, other]] = differences([arm(25, 20), arm(25, 10), arm(24, 20)]) as [
      ReturnType<typeof differences>[number],
      ReturnType<typeof differences>[number],
    ];
    assert.deepEqual([first, second, other], ['page-a', 'page-c', null]);
    assert.ok(Math.abs(difference!.value - 0.49) < 1e-9, `${difference!.value}`);
    assert.ok(difference!.low < difference!.value && difference!.value < difference!.high);
    for (const arms of [
      [arm(25, 20), arm(24, 10), arm(25, 20)],
      [none, none, none],
    ]) {
      assert.deepEqual(differences(arms), [
        ['page-a', null],
        ['page-c', null],
      ]);
    }
  });

  it('compares nothing while earlier sessions are counted', () => {
    assert.deepEqual(differences([arm(30, 20), arm(30, 10), arm(30, 20)], true), [
      ['page-a', null],
      ['page-c', null],
    ]);
  });
});
