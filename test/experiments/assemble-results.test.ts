import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { drawDay } from '../../bench/experiments/draw-days.ts';
import { seededRandom } from '../../bench/population/random.ts';
import { bounds } from '../../src/bounds.ts';
import { assembleResults, resultsDayOf } from '../../src/experiments/assemble-results.ts';
import type { Experiment } from '../../src/experiments/experiment.ts';
import type { ArmDay, ExperimentFigures } from '../../src/experiments/experiment-figures.ts';
import {
  type ArmResults,
  experimentResultsSchema,
  type ResultsWithSeries,
  seriesLookSchema,
} from '../../src/experiments/experiment-results.ts';
import { noUnits } from '../../src/statistics/arm-sums.ts';
import { dayOf, experimentWith, figuresOf, type RawSession, startsOn } from './experiment-fixture.ts';

/** Returns `count` sessions for each day. `usd` contains the revenues of the first sessions of each day; the other sessions have no revenue. */
function sessionsOf(arm: number, days: number, count: number, usd: readonly number[], more: Partial<RawSession> = {}) {
  return Array.from({ length: days }, (_, day) =>
    Array.from({ length: count }, (_, index): RawSession => ({ arm, day, usd: usd[index] ?? 0, ...more })),
  ).flat();
}

const resultsValidator = Compile(experimentResultsSchema);
const seriesValidator = Compile(Type.Array(seriesLookSchema));

function assemble(
  experiment: Experiment,
  asOf: number,
  sessions: readonly RawSession[],
  more: Partial<ExperimentFigures> = {},
): ResultsWithSeries {
  const assembled = assembleResults(experiment, figuresOf(experiment, asOf, sessions, more));
  assert.ok(resultsValidator.Check(assembled.results), JSON.stringify(assembled.results));
  assert.ok(seriesValidator.Check(assembled.series));
  // JSON turns NaN and infinite numbers into null.
  assert.deepEqual(JSON.parse(JSON.stringify(assembled)), assembled);
  return assembled;
}

const usual = [80, 120];

describe('results of an extreme experiment', () => {
  it('has no sessions', () => {
    const { results, series } = assemble(experimentWith(3, { endsOn: startsOn + 30 }), 10, []);
    assert.equal(results.sentence, 'Too early to say: the results up to 11 January 2027 (UTC) count no sessions.');
    assert.deepEqual(
      [results.state, results.decision, results.as_of, results.planned_day],
      ['running', 'too_early', '2027-01-11', '2027-03-25'],
    );
    const [arm] = results.arms;
    assert.deepEqual(
      [arm!.sessions, arm!.revenue_per_session, arm!.interval, arm!.largest_payout_share, arm!.early_read],
      [0, null, null, null, null],
    );
    assert.deepEqual(series, []);
    assert.deepEqual(results.split_check, {
      log_martingale: 0,
      chi_square_p: null,
      invalid: false,
      assignment_mismatches: null,
    });
    assert.ok(
      results.guardrails.every(({ control, value, word }) => control === null && value === null && word === null),
    );
    // The first day of the experiment is not over yet.
    assert.equal(assemble(experimentWith(2), -1, []).results.decision, 'too_early');
  });

  for (const [title, experiment, asOf, sessions, decision, sentence] of [
    [
      'has no mature session',
      experimentWith(2),
      20,
      [0, 1].flatMap((arm) => sessionsOf(arm, 20, 9, usual)),
      'too_early',
      /no session is mature yet. The first sessions are mature on 23 February 2027 \(UTC\)\.$/,
    ],
    [
      'has an empty arm, which makes its split invalid',
      experimentWith(2),
      90,
      sessionsOf(0, 30, 99, usual),
      'invalid',
      /^Do not use these figures: A got 2,970 sessions and B 0 where equal numbers were intended/,
    ],
    [
      'has no revenue',
      experimentWith(2),
      90,
      [0, 1].flatMap((arm) => sessionsOf(arm, 30, 50, [])),
      'too_early',
      /^Too early to say: A has none of the 25 confirmed sessions/,
    ],
    [
      'has one payout of 100,000 USD',
      experimentWith(2),
      90,
      [...[0, 1].flatMap((arm) => sessionsOf(arm, 30, 50, usual)), { arm: 1, day: 3, usd: 100_000 }],
      'undecided',
      /^No difference shown yet: B earns between [\d,.]+ USD less and [\d,.]+ USD more/,
    ],
    [
      'has ten arms',
      experimentWith(10),
      90,
      Array.from({ length: 10 }, (_, arm) => sessionsOf(arm, 30, 50, usual)).flat(),
      'undecided',
      /^No arm is shown to earn more than A yet\. B, C, D, E, F, G, H, I and J are not shown to differ/,
    ],
    [
      'has days without sessions',
      experimentWith(2),
      113,
      [0, 1].flatMap((arm) => sessionsOf(arm, 60, 50, [...usual, 100])).filter(({ day }) => day % 5 === 0),
      'too_early',
      /A has 12 of the 14 days with mature sessions/,
    ],
    [
      'ended before it matured',
      experimentWith(2, { endsOn: startsOn + 9 }),
      40,
      [0, 1].flatMap((arm) => sessionsOf(arm, 10, 50, usual)),
      'too_early',
      /no session is mature yet/,
    ],
    [
      'is over without a comparison',
      experimentWith(2, { endsOn: startsOn + 9 }),
      62,
      [0, 1].flatMap((arm) => sessionsOf(arm, 10, 50, usual)),
      'no_decision',
      /^The plan is over without a comparison: A has 20 of the 25/,
    ],
    [
      'is retrospective',
      experimentWith(2, { createdMs: (startsOn + 1) * 86_400_000 }),
      90,
      [0, 1].flatMap((arm) => sessionsOf(arm, 30, 50, usual)),
      'exploratory',
      /^For ideas, not for decisions/,
    ],
  ] as const) {
    it(title, () => {
      const { results } = assemble(experiment, asOf, sessions);
      assert.match(results.sentence, sentence);
      assert.equal(results.decision, decision);
      assert.equal(results.comparisons.length, experiment.definition.arms.length - 1);
    });
  }

  it('is still being filled: takes no look, whatever is counted', () => {
    const sessions = [...sessionsOf(0, 30, 99, usual), ...sessionsOf(1, 30, 99, [...usual, ...usual, ...usual])];
    const { results, series } = assemble(experimentWith(2), 90, sessions, { fillProgress: 0.419 });
    assert.equal(results.sentence, 'Too early to say: the earlier sessions are still being counted: 41 %.');
    assert.deepEqual([results.decision, results.fill_progress, series], ['too_early', 0.419, []]);
    assert.deepEqual([results.comparisons[0]!.p_value, results.arms[0]!.sessions], [null, 2_970]);
    assert.equal(assemble(experimentWith(2), 90, sessions).results.decision, 'better');
  });

  it('is closed: has the stored results, and the series', () => {
    const sessions = [0, 1].flatMap((arm) => sessionsOf(arm, 30, 50, usual));
    const { results: stored, series } = assemble(experimentWith(2), 90, sessions);
    const closing = { arm: null, note: null, closedMs: (startsOn + 91.5) * 86_400_000, keyNumber: 1, results: stored };
    for (const [outcome, arm, text] of [
      ['ship', 'page-b', 'to ship B'],
      ['ship', null, 'to ship an arm other than A'],
      ['keep_control', null, 'to keep A'],
      ['no_decision', null, 'without a decision'],
      ['broken', null, 'as broken'],
    ] as const) {
      const closed = experimentWith(2, { closing: { ...closing, outcome, arm } });
      assert.equal(resultsDayOf(closed, startsOn + 200), startsOn + 90);
      const found = assembleResults(closed, figuresOf(closed, 90, sessions));
      const sentence = `Closed on 2 April 2027 (UTC) ${text}. The results up to 1 April 2027 (UTC): ${stored.sentence}`;
      assert.deepEqual(found, { results: { ...stored, state: 'closed', sentence }, series });
    }
  });
});

describe('members of the results', () => {
  it('separate revenue that counts from revenue that came too late', () => {
    const sessions = [
      ...sessionsOf(0, 30, 50, usual),
      ...sessionsOf(1, 30, 50, usual),
      { arm: 1, day: 2, lateUsd: 45, lateReversedUsd: 15 },
      { arm: 1, day: 80, lateUsd: 1_000 },
    ];
    const { results } = assemble(experimentWith(2), 90, sessions);
    const [, arm] = results.arms;
    assert.deepEqual(arm!.after_freeze, { confirmed: 45, reversed: 15 });
    assert.deepEqual([arm!.sessions, arm!.mature_sessions, arm!.mature_days], [1_502, 1_501, 30]);
    assert.equal(arm!.revenue_per_session, 6_000 / 1_501);
    assert.ok(Math.abs(results.comparisons[0]!.difference_today! - (6_030 / 1_501 - 4)) < 1e-12);
    assert.ok(results.comparisons[0]!.difference!.value < 0);
    const capped = assemble(experimentWith(2, { capMicros: 1_000_000_000 }), 90, sessions).results;
    assert.equal(capped.comparisons[0]!.difference_today, null);
  });

  it('have the largest revenue, and the difference with capped revenue', () => {
    const large = { arm: 1, day: 2, usd: 5_000 };
    const sessions = [...[0, 1].flatMap((arm) => sessionsOf(arm, 60, 50, usual)), large];
    const { results } = assemble(experimentWith(2), 130, sessions);
    assert.equal(results.arms[1]!.largest_payout_share, 5_000 / 17_000);
    const { difference, capped_difference: capped } = results.comparisons[0]!;
    assert.deepEqual([capped!.cap, capped!.share_cut], [120, 1 - 24_120 / 29_000]);
    assert.ok(capped!.value < difference!.value && capped!.high - capped!.low < difference!.high - difference!.low);
    assert.equal(assemble(experimentWith(2), 72, sessions).results.comparisons[0]!.capped_difference, null);
  });

  it('predict the revenue of young sessions from that of old ones', () => {
    // Each session with revenue has it in the week after its eighth: 8 cohorts are complete, 2 have none of it yet.
    const sessions = [0, 1].flatMap((arm) => sessionsOf(arm, 70, 50, usual, { ageWeeks: 7 }));
    const early = assemble(experimentWith(2), 107, sessions).results.arms[0]!.early_read!;
    assert.ok(Math.abs(early.revenue_per_session - 4) < 1e-9 && early.low < 4 && early.high > 4);
    const cards = experimentWith(2, { revenueDays: 7 });
    assert.equal(assemble(cards, 107, sessions).results.arms[0]!.early_read, null);
    // The first week is complete 52 days after its last day.
    for (const [asOf, isNull] of [
      [57, true],
      [58, false],
    ] as const)
      assert.equal(assemble(experimentWith(2), asOf, sessions).results.arms[0]!.early_read === null, isNull);
  });

  it('plan the units of a difference, until the plan is over', () => {
    const sessions = [0, 1].flatMap((arm) => sessionsOf(arm, 30, 50, usual));
    for (const [more, sentence] of [
      [
        { minEffectPercent: 20 },
        /A difference of 20 % is likely to be found after about 410 more days at the present rate\.$/,
      ],
      [
        { minEffectPercent: 5 },
        /At the present rate, a difference of 5 % is not likely to be found within 730 days\.$/,
      ],
      [
        { minEffectPercent: 5, endsOn: startsOn + 99 },
        /Planned day: 2 June 2027 \(UTC\)\. By then, only a difference of at least \d+ % is likely to be found\.$/,
      ],
    ] as const) {
      assert.match(assemble(experimentWith(2, more), 90, sessions).results.sentence, sentence);
    }
    const planned = assemble(experimentWith(2, { minEffectPercent: 5, endsOn: startsOn + 99 }), 90, sessions).results;
    const smallest = planned.comparisons[0]!.planning!.smallest_effect_percent!;
    assert.ok(planned.sentence.includes(` ${Math.ceil(smallest)} % `));
    const { planning } = assemble(experimentWith(2, { minEffectPercent: 20 }), 90, sessions).results.comparisons[0]!;
    assert.equal(planning!.units_per_arm, planning!.units_left + 1_500);
    const over = experimentWith(2, { minEffectPercent: 5, endsOn: startsOn + 29 });
    assert.equal(assemble(over, 90, sessions).results.comparisons[0]!.planning, null);
  });

  it('compare the guardrails, of visitors also their sessions', () => {
    const figures = { clicks: 1, views: 1, payouts: 1 };
    const visitors = (arm: number, more: Partial<RawSession>) =>
      sessionsOf(arm, 30, 40, usual).map((session, index) => ({
        ...session,
        ...figures,
        ...(index % 3 === 0 ? more : {}),
        visitor: `${arm} ${Math.floor(index / (arm + 1))}`,
      }));
    const sessions = [
      ...visitors(0, { clicks: 0, errors: 3, reversals: 1 }),
      ...visitors(1, { clicks: 3, views: 0 }),
      // Reversals of sessions that are not mature do not count.
      ...sessionsOf(1, 1, 900, []).map((session) => ({ ...session, ...figures, day: 80, reversals: 1 })),
    ];
    const wordsOf = (control: string) => {
      const { results } = assemble(experimentWith(2, { unit: 'visitor', control }), 90, sessions);
      return Object.fromEntries(results.guardrails.map(({ name, word }) => [name, word]));
    };
    assert.deepEqual(wordsOf('page-a'), {
      sessions_per_visitor: 'no sign of harm',
      clicks_per_session: 'no sign of harm',
      inputs_completed: 'worse',
      widget_errors: 'no sign of harm',
      reversed_share: 'no sign of harm',
    });
    assert.deepEqual(wordsOf('page-b'), {
      sessions_per_visitor: 'worse',
      clicks_per_session: 'worse',
      inputs_completed: 'no sign of harm',
      widget_errors: 'worse',
      reversed_share: 'worse',
    });
  });

  it('warn about visitors in several arms, before they make the figures invalid', () => {
    const sessions = [0, 1].flatMap((arm) => sessionsOf(arm, 30, 50, usual));
    const withMixed = (share: number) => {
      const experiment = experimentWith(2, { unit: 'visitor' });
      const figures = figuresOf(experiment, 90, sessions);
      const days = figures.days.map((day) => ({ ...day, unitsInSeveralArms: day.arm === 1 ? share * 50 : 0 }));
      return assembleResults(experiment, { ...figures, days }).results;
    };
    assert.deepEqual(withMixed(0).warnings, []);
    assert.deepEqual(withMixed(0.02).warnings, [
      '2 % of the visitors of B saw more than one arm. Above 10 %, the figures must not be used.',
    ]);
    assert.deepEqual([withMixed(0.02).decision, withMixed(0.12).decision], ['undecided', 'invalid']);
  });

  it('keep the split invalid after it was invalid once, and count sessions without a visitor', () => {
    const sessions = [
      ...sessionsOf(0, 20, 60, usual),
      ...sessionsOf(1, 20, 20, usual),
      ...sessionsOf(1, 40, 20, usual),
    ];
    const { split_check: split } = assemble(experimentWith(2), 120, sessions).results;
    assert.deepEqual([split.invalid, split.chi_square_p], [true, 1]);
    const even = [0, 1].flatMap((arm) => sessionsOf(arm, 30, 50, usual));
    const leftOut = { bots: 1, outsideDates: 2, noUnit: 200 };
    const { results } = assemble(experimentWith(2, { unit: 'visitor' }), 90, even, { leftOut });
    assert.equal(
      results.sentence,
      'Do not use these figures: 6.3 % of the sessions have no unit_id, so their visitors are unknown. Send unit_id with each session: a share of up to 5 % without it is allowed.',
    );
    assert.deepEqual(results.left_out, { bots: 1, outside_dates: 2, no_unit: 200 });
  });

  it('report assignment mismatches of experiments with assigned arms', () => {
    const experiment = experimentWith(2, { unit: 'visitor', assignment: 'hash' });
    const figures = figuresOf(experiment, 90, sessionsOf(0, 5, 5, usual));
    const days = figures.days.map((day) => ({ ...day, assignmentMismatches: 2 }));
    assert.equal(assembleResults(experiment, { ...figures, days }).results.split_check.assignment_mismatches, 10);
  });
});

const flat = { unitsPerDay: 300, payoutRate: 0.015, meanPayoutUsd: 100, sigma: 0.8 };

const [emptyRow] = figuresOf(experimentWith(2), 0, [{ arm: 0, day: 0 }]).days;

function rowOf(arm: number, day: number, sums: ArmDay['sums']): ArmDay {
  return { ...emptyRow!, arm, day: startsOn + day, sums };
}

/** Results of an experiment whose second arm has `rate` times the payouts of the control. */
function simulate(random: () => number, days: number, rate: number, endsOn: number | null): ResultsWithSeries {
  const rows = Array.from({ length: days }, (_, day) =>
    [flat, { ...flat, payoutRate: flat.payoutRate * rate }].map((arm, index) =>
      rowOf(index, day, drawDay(random, arm, {}, day)),
    ),
  ).flat();
  const none = { ages: [], unitsWithRevenue: [], fillProgress: null, leftOut: { bots: 0, outsideDates: 0, noUnit: 0 } };
  const figures = { ...none, asOf: startsOn + days + 52, days: rows };
  return assembleResults(experimentWith(2, { endsOn }), figures, { largestMicros: [0, 0], capped: null });
}

describe('results of simulated experiments', () => {
  const runs = 200;
  const days = 135;

  it('rarely find a difference of equal pages, and often one of 50 %', () => {
    for (const endsOn of [null, startsOn + days - 1]) {
      const random = seededRandom(7);
      const found = (rate: number) =>
        Array.from({ length: runs }, () => simulate(random, days, rate, endsOn).results.decision).filter((decision) =>
          ['better', 'worse'].includes(decision),
        ).length;
      const [wrong, right] = [found(1), found(1.5)];
      assert.ok(wrong <= runs * 0.05 + 3 * Math.sqrt(runs * 0.05 * 0.95), `${wrong}`);
      assert.ok(right > runs * 0.8, `${right}`);
    }
  });

  it('decide as the intervals and p values of their series do', () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.double({ min: 0.4, max: 2.5, noNaN: true }),
        fc.boolean(),
        (seed, rate, isPlanned) => {
          const { results, series } = simulate(seededRandom(seed), 60, rate, isPlanned ? startsOn + 59 : null);
          const [comparison] = results.comparisons;
          const excluding = series.find(({ low, high }) => low !== null && (low > 0 || high! < 0));
          const last = series.at(-1)!;
          assert.equal(comparison!.p_value !== null && comparison!.p_value <= 0.05, excluding !== undefined);
          assert.equal(comparison!.decided_on, excluding?.as_of ?? null);
          assert.deepEqual(comparison!.difference_then?.low ?? null, excluding?.low ?? null);
          assert.deepEqual(
            [comparison!.difference?.low ?? null, comparison!.difference?.high ?? null, comparison!.p_value],
            [last.low, last.high, last.p_value],
          );
          const expected = excluding === undefined ? null : excluding.low! > 0 ? 'better' : 'worse';
          if (expected !== null) assert.equal(comparison!.decision, expected);
          else assert.ok(['undecided', 'no_decision', 'too_early'].includes(comparison!.decision));
          assert.equal(series.length, 60);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('have the same last figures, whichever mature day had a session', () => {
    fc.assert(
      fc.property(fc.integer(), fc.constantFrom(7, 11, 13), (seed, step) => {
        const random = seededRandom(seed);
        const drawn = Array.from({ length: 300 }, () => ({
          arm: Math.floor(random() * 2),
          usd: [0, 0, 10, 250][Math.floor(random() * 4)]!,
        }));
        const lastFigures = (dayOfSession: (index: number) => number) => {
          const sessions = drawn.map((session, index) => ({ ...session, day: dayOfSession(index) }));
          const { arms, comparisons } = assemble(experimentWith(2), 90, sessions).results;
          const { difference, relative, difference_today } = comparisons[0]!;
          assert.notEqual(difference, null);
          return [
            difference,
            relative,
            difference_today,
            arms.map(({ early_read: _, mature_days: __, ...arm }) => arm),
          ];
        };
        assert.deepEqual(
          lastFigures((index) => index % 30),
          lastFigures((index) => (index * step + 3) % 30),
        );
      }),
      { numRuns: 20 },
    );
  });

  it('change no figure of the looks after the planned day', () => {
    const experiment = experimentWith(2, { endsOn: startsOn + 39 });
    const sessions = [...sessionsOf(0, 40, 50, usual), ...sessionsOf(1, 40, 50, [...usual, 100])];
    const [onDay, later] = [92, 200].map((asOf) => assemble(experiment, asOf, sessions));
    assert.deepEqual([onDay!.results.state, later!.results.as_of], ['final', '2027-07-20']);
    assert.deepEqual(later, { ...onDay, results: { ...onDay!.results, as_of: later!.results.as_of } });
  });

  it('limit the series to the latest looks', () => {
    const rows = Array.from({ length: bounds.experimentSeriesLooksMax + 20 }, (_, day) => rowOf(0, day, noUnits));
    const { asOf, ...figures } = figuresOf(experimentWith(2), 600, []);
    const { series } = assembleResults(experimentWith(2), { ...figures, asOf, days: rows });
    assert.equal(series.length, bounds.experimentSeriesLooksMax);
    assert.deepEqual([series.at(-1)!.as_of, dayOf(series[0]!.as_of)], ['2028-08-23', startsOn + 600 - 399]);
  });
});

describe('how far units get, and when revenue arrives', () => {
  it('counts each unit once in each step of the funnel', () => {
    const sessions: RawSession[] = [
      { arm: 0, day: 0, visitor: 'x', views: 2, clicks: 3, usd: 50 },
      { arm: 0, day: 1, visitor: 'x', views: 1 },
      { arm: 0, day: 1, visitor: 'y', views: 1 },
      { arm: 0, day: 1, visitor: 'z' },
    ];
    const { results } = assemble(experimentWith(2, { unit: 'visitor' }), 10, sessions);
    assert.deepEqual(
      results.arms.map(({ funnel }) => funnel),
      [
        { units: 3, with_offers: 2, with_clicks: 1, with_revenue: 1 },
        { units: 0, with_offers: 0, with_clicks: 0, with_revenue: 0 },
      ],
    );
  });

  it('divides the revenue of each week of age by the sessions that completed the week', () => {
    const sessions: RawSession[] = [
      // Eight days old: one complete week.
      { arm: 0, day: 5, usd: 30, ageWeeks: 0 },
      { arm: 0, day: 5 },
      // Fourteen days old: two complete weeks.
      { arm: 0, day: 0, usd: 10, ageWeeks: 0 },
      { arm: 0, day: 0, usd: 8, ageWeeks: 1 },
      // Too young for a complete week.
      { arm: 0, day: 10, usd: 1_000, ageWeeks: 0 },
    ];
    const { results } = assemble(experimentWith(2), 13, sessions);
    assert.deepEqual(results.arms[0]!.revenue_by_age, [
      { weeks: 1, sessions: 4, revenue_per_session: 10 },
      { weeks: 2, sessions: 2, revenue_per_session: 14 },
    ]);
    assert.deepEqual(results.arms[1]!.revenue_by_age, []);
  });

  it('ends with the revenue per session of mature sessions, when all are mature', () => {
    const sessions = sessionsOf(0, 20, 10, usual, { ageWeeks: 7 });
    const { results } = assemble(experimentWith(2), 90, sessions);
    const [{ revenue_by_age: ages, revenue_per_session: final }] = results.arms as [ArmResults];
    assert.equal(ages!.at(-1)!.revenue_per_session, final);
    assert.equal(ages!.length, 8);
  });
});
