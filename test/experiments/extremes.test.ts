import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decideArm } from '../../src/experiments/decide.ts';
import { describeExperiment } from '../../src/experiments/describe-experiment.ts';
import {
  type ArmAtLook,
  addLook,
  createExperimentLooks,
  createLookPlan,
} from '../../src/experiments/experiment-looks.ts';
import { type ArmSums, addSums, noUnits } from '../../src/statistics/arm-sums.ts';
import { sessionsWith, sumUnits } from '../statistics/raw-units.ts';

const firstDay = Date.parse('2027-01-01') / 86_400_000;

/** Revenues of the sessions of one cohort day, for each arm. */
type Day = readonly (readonly number[])[];

interface Setting {
  readonly plannedDay?: number;
  readonly firstMatureDay?: number;
}

/** Looks at the cohorts of the given days, one day after the other, and returns the sentence of the last day. */
function sentenceAfter(days: readonly Day[], arms: number, { plannedDay, firstMatureDay }: Setting = {}): string {
  const plan = createLookPlan(arms, plannedDay ?? null);
  let looks = createExperimentLooks(arms);
  let data: ArmAtLook[] = Array(arms).fill({ sums: noUnits, matureDays: 0 });
  for (const [index, day] of days.entries()) {
    data = data.map(({ sums, matureDays }, arm): ArmAtLook => {
      const added: ArmSums = sumUnits(sessionsWith(...day[arm]!));
      return { sums: addSums(sums, added), matureDays: matureDays + (added.sessions > 0 ? 1 : 0) };
    });
    looks = addLook(looks, plan, firstDay + index, data);
    for (const { look, pValue } of looks.comparisons) {
      const figures = [pValue, ...Object.values(look?.difference ?? {}), ...Object.values(look?.relative ?? {})];
      assert.ok(figures.every((figure) => figure === null || Number.isFinite(figure)));
    }
  }
  const input = { isFilling: false, isInvalid: false, isRetrospective: false, minEffect: 0.05, looks };
  return describeExperiment({
    unit: 'session',
    asOf: firstDay,
    looks,
    invalidReason: null,
    minEffect: 0.05,
    capUsd: null,
    isLast: false,
    plannings: [],
    fillProgress: null,
    plannedDay: plannedDay ?? null,
    firstMatureDay: firstMatureDay ?? null,
    decisions: looks.comparisons.map((comparison) => decideArm(input, comparison)),
    arms: data.map(({ sums, matureDays }, index) => ({
      name: 'ABCDEFGHIJ'[index]!,
      weight: 1,
      units: sums.units,
      matureUnits: sums.units,
      unitsWithRevenue: sums.unitsWithRevenue,
      matureDays,
    })),
  });
}

/** Revenues of `count` sessions without revenue, and of sessions with the given revenue. */
const sessions = (count: number, ...revenues: readonly number[]) => [...Array<number>(count).fill(0), ...revenues];
const usualDay = sessions(98, 80, 120);
const days = (count: number, day: Day): Day[] => Array(count).fill(day);

describe('sentence of an extreme experiment', () => {
  it('has no arm with mature sessions', () => {
    assert.equal(
      sentenceAfter([], 2, { firstMatureDay: firstDay + 53 }),
      'Too early to say: no session is mature yet. The first sessions are mature on 23 February 2027 (UTC).',
    );
    const ended = { plannedDay: firstDay + 60, firstMatureDay: firstDay + 53 };
    assert.match(sentenceAfter(days(20, [[], []]), 2, ended), /^Too early to say: no session is mature yet\./);
  });

  it('has an empty arm', () => {
    assert.match(
      sentenceAfter(days(30, [usualDay, []]), 2),
      /^Too early to say: B has none of the 25 confirmed sessions it needs\.$/,
    );
  });

  it('has no revenue', () => {
    assert.match(sentenceAfter(days(40, [sessions(50), sessions(50)]), 2), /^Too early to say: A has none of the 25/);
  });

  it('has an arm without revenue', () => {
    assert.match(sentenceAfter(days(40, [usualDay, sessions(100)]), 2), /check that the page of B works\.$/);
  });

  it('has one payout of 100,000 USD', () => {
    // The payout widens the intervals of both arms so much that no relative difference exists.
    const large = sessions(98, 80, 100_000);
    for (const last of [
      [usualDay, large],
      [large, usualDay],
    ]) {
      assert.match(
        sentenceAfter([...days(19, [usualDay, usualDay]), last], 2),
        /^No difference shown yet: B earns between [\d,.]+ USD less and [\d,.]+ USD more per session than A\./,
      );
    }
  });

  it('has more reversals than revenue', () => {
    const reversed = sessions(90, 10, 20, -50, -50);
    assert.match(sentenceAfter(days(20, [usualDay, reversed]), 2), /^B earns less than A: \d+ % less per session/);
    assert.match(
      sentenceAfter(days(20, [reversed, reversed]), 2),
      /^No difference shown yet: B earns between [\d.]+ USD less and/,
    );
  });

  it('has days without sessions', () => {
    const gaps = Array.from(
      { length: 40 },
      (_, index): Day => (index % 4 === 0 ? [sessions(90, 80, 90, 100), sessions(90, 80, 90, 110)] : [[], []]),
    );
    assert.match(
      sentenceAfter(gaps, 2),
      /^Too early to say: A has 10 of the 14 days with mature sessions that it needs\.$/,
    );
  });

  it('has ten arms, one of which earns three times as much', () => {
    const day = [...Array<readonly number[]>(9).fill(usualDay), sessions(94, 80, 80, 80, 120, 120, 120)];
    assert.match(
      sentenceAfter(days(40, day), 10),
      /^J earns more than A\. B, C, D, E, F, G, H and I are not shown to differ from A yet\. You may look every day/,
    );
  });

  it('ended with too few sessions, and with equal arms', () => {
    const plannedDay = firstDay + 19;
    assert.equal(
      sentenceAfter(days(20, [sessions(99, 80), usualDay]), 2, { plannedDay }),
      'The plan is over without a comparison: A has 20 of the 25 confirmed sessions it needs.',
    );
    assert.match(
      sentenceAfter(days(20, [usualDay, usualDay]), 2, { plannedDay }),
      /^The plan is over without a winner\. For B in comparison with A, the data rule out a gain above \d+ % and a loss above \d+ %/,
    );
  });

  it('has an arm whose sessions all have the same revenue', () => {
    assert.equal(
      sentenceAfter(days(20, [Array(5).fill(10), Array(5).fill(12)]), 2),
      'No difference shown yet: all revenues of an arm are equal, so their spread is unknown.',
    );
    assert.equal(
      sentenceAfter(days(20, [usualDay, Array(5).fill(10)]), 2),
      'No difference shown yet: all revenues of an arm are equal, so their spread is unknown.',
    );
  });
});
