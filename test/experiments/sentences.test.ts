import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decisions as allDecisions, type Decision } from '../../src/experiments/decide.ts';
import { describeComparison } from '../../src/experiments/describe-comparison.ts';
import { describeExperiment } from '../../src/experiments/describe-experiment.ts';
import type { ArmFindings, ExperimentFindings } from '../../src/experiments/experiment-findings.ts';
import type { Comparison } from '../../src/experiments/experiment-looks.ts';
import { describeDifference } from '../../src/experiments/wording.ts';
import { armOf, comparisonOf, dayOf, finalOf, findingsOf, lookOf, noComparison as none } from './comparisons.ts';

function sentenceOf(decision: Decision, comparison: Comparison, more: Partial<ExperimentFindings> = {}): string {
  const findings = findingsOf([decision], [comparison], more);
  const sentence = describeComparison(findings, 0);
  assert.equal(describeExperiment(findings), sentence);
  return sentence;
}

const closedGate = { asOf: dayOf('2027-03-01'), isGateOpen: false, isPlanOver: false, comparisons: [none] };
const wide = comparisonOf(-0.09, 0.12, 0.41);

describe('sentence of a comparison', () => {
  it('names the units with revenue that an arm lacks, and the days until it has them', () => {
    const arms = [armOf('A'), armOf('B', { unitsWithRevenue: 14, matureDays: 11, matureUnits: 900 })];
    assert.equal(
      sentenceOf('too_early', none, { arms, looks: closedGate }),
      'Too early to say: B has 14 of the 25 confirmed sessions it needs, about 9 days at the present rate.',
    );
    const visitors = [armOf('A', { unitsWithRevenue: 0, matureDays: 0, matureUnits: 0 }), arms[1]!];
    assert.equal(
      sentenceOf('too_early', none, { arms: visitors, looks: closedGate, unit: 'visitor' }),
      'Too early to say: A has none of the 25 visitors with confirmed revenue it needs.',
    );
  });

  it('points to a page that may not work', () => {
    const arms = [armOf('A'), armOf('B', { unitsWithRevenue: 0 })];
    assert.equal(
      sentenceOf('too_early', none, { arms, looks: closedGate }),
      'Too early to say: B has none of the 25 confirmed sessions it needs. At most 0.2 % of the sessions of B have confirmed ' +
        'revenue, and at least 1.3 % of those of A: check that the page of B works.',
    );
  });

  it('compares the rates of all arms with an error probability of 5 % together', () => {
    const low = armOf('B', { matureUnits: 1_000, unitsWithRevenue: 1 });
    // Intervals at 5 % for each arm do not overlap with 18 units either.
    for (const [unitsWithRevenue, isNamed] of [
      [18, false],
      [20, true],
    ] as const) {
      const arms = [armOf('A', { matureUnits: 1_000, unitsWithRevenue }), low];
      assert.equal(sentenceOf('too_early', none, { arms, looks: closedGate }).includes('check that the page'), isNamed);
    }
  });

  it('names the days that an arm lacks, and the first mature day', () => {
    const arms = [armOf('A'), armOf('B', { matureDays: 9 })];
    assert.equal(
      sentenceOf('too_early', none, { arms, looks: closedGate }),
      'Too early to say: B has 9 of the 14 days with mature sessions that it needs.',
    );
    const empty = ['A', 'B'].map((name) => armOf(name, { matureUnits: 0, unitsWithRevenue: 0, matureDays: 0 }));
    assert.equal(
      sentenceOf('too_early', none, { arms: empty, looks: closedGate, firstMatureDay: dayOf('2027-03-09') }),
      'Too early to say: no session is mature yet. The first sessions are mature on 9 March 2027 (UTC).',
    );
    assert.equal(
      sentenceOf('too_early', none, { arms: empty, looks: closedGate }),
      'Too early to say: the results up to 1 March 2027 (UTC) count no sessions.',
    );
  });

  it('gives the interval of an undecided comparison, in percent or in USD', () => {
    assert.equal(
      sentenceOf('undecided', wide),
      'No difference shown yet: B earns between 9 % less and 41 % more per session than A. You may look every day; the interval allows ' +
        'for it. Planned day: 3 March 2027 (UTC).',
    );
    const inUsd = {
      ...wide,
      look: { ...wide.look!, relative: null, difference: { low: -0.1556, value: 0.4, high: 0.9556 } },
    };
    assert.equal(
      sentenceOf('undecided', inUsd, { plannedDay: null, capUsd: 500 }),
      'No difference shown yet: B earns between 0.16 USD less and 0.96 USD more per session than A. You may look every day; the interval ' +
        'allows for it. Revenue of a session above 500.00 USD counts as 500.00 USD.',
    );
    assert.equal(
      sentenceOf('undecided', none),
      'No difference shown yet: all revenues of an arm are equal, so their spread is unknown.',
    );
  });

  it('gives size, interval and day of a final decision', () => {
    const final = finalOf('better');
    assert.equal(
      sentenceOf('better', { look: final.look, pValue: 0.01, final }),
      'B earns more than A: 27 % more per session, between 4 % and 55 % more. Decided on 12 February 2027 (UTC).',
    );
    const loss = finalOf('worse');
    assert.equal(
      sentenceOf('worse', { look: loss.look, pValue: 0.01, final: loss }),
      'B earns less than A: 30 % less per session, between 10 % and 50 % less. Decided on 12 February 2027 (UTC).',
    );
  });

  it('says that the present figures no longer show a final decision', () => {
    for (const [look, range] of [
      [lookOf(-0.03, 0.2, 0.4), 'between 3 % less and 40 % more'],
      [lookOf(-0.3, -0.2, -0.1), 'between 10 % and 30 % less'],
    ] as const) {
      assert.equal(
        sentenceOf('better', { look, pValue: 0.01, final: finalOf('better') }),
        'B earned more than A when this was decided on 12 February 2027 (UTC): between 4 % and 55 % more per session. The figures up to ' +
          `1 March 2027 (UTC) no longer show this: ${range}.`,
      );
    }
  });

  it('says what a plan without a winner rules out', () => {
    const looks = { ...closedGate, isPlanOver: true };
    assert.equal(
      sentenceOf('no_decision', comparisonOf(-0.09, 0.04, 0.18)),
      'The plan is over without a winner. For B in comparison with A, the data rule out a gain above 18 % and a loss ' +
        'above 9 % per session.',
    );
    assert.equal(
      sentenceOf('no_decision', comparisonOf(-1, 0.5, 8)),
      'The plan is over without a winner. For B in comparison with A, the data rule out a gain above 800 % per session.',
    );
    const arms = [armOf('A'), armOf('B', { unitsWithRevenue: 14 })];
    assert.equal(
      sentenceOf('no_decision', none, { arms, looks }),
      'The plan is over without a comparison: B has 14 of the 25 confirmed sessions it needs. At most 0.8 % of the sessions of B have ' +
        'confirmed revenue, and at least 1.3 % of those of A: check that the page of B works.',
    );
  });

  it('gives the interval of equal arms', () => {
    assert.equal(
      sentenceOf('equivalent', comparisonOf(-0.03, 0.01, 0.04)),
      'B earns the same as A within 5 %: between 3 % less and 4 % more per session.',
    );
  });

  it('warns before the figures of a retrospective experiment', () => {
    assert.equal(
      sentenceOf('exploratory', comparisonOf(0.04, 0.27, 0.55)),
      'For ideas, not for decisions: the experiment was created after its first day, and the interval does not allow for a choice of arms ' +
        'by their figures. B earned between 4 % and 55 % more per session than A.',
    );
    assert.match(sentenceOf('exploratory', none), /No comparison is possible yet\.$/);
  });

  it('says why figures must not be used', () => {
    const split = (arms: ArmFindings[], unit: ExperimentFindings['unit'] = 'visitor') =>
      describeExperiment(
        findingsOf(Array(arms.length - 1).fill('invalid'), Array(arms.length - 1).fill(wide), {
          arms,
          unit,
          invalidReason: { kind: 'split' },
        }),
      );
    const [a, b] = [armOf('A', { units: 5_812 }), armOf('B', { units: 5_204 })];
    assert.equal(
      split([a, b]),
      'Do not use these figures: A got 5,812 visitors and B 5,204 where equal numbers were intended. Look first at redirects, caching and bots.',
    );
    assert.match(
      split([
        { ...a, weight: 60 },
        { ...b, weight: 40 },
      ]),
      /and B 5,204 where 60 % and 40 % were intended\./,
    );
    assert.match(
      split([a, b, armOf('C', { units: 0 })], 'session'),
      /C got 0 of 11,016 sessions where 3,672 were intended\./,
    );
    assert.match(
      split([armOf('A', { units: 1 }), armOf('B', { units: 40 })], 'session'),
      /: A got 1 session and B 40 where/,
    );
    assert.match(
      split([armOf('A', { weight: 98, units: 70 }), armOf('B', { weight: 1, units: 30 }), armOf('C', { units: 0 })]),
      /: B got 30 of 100 visitors where 1 was intended\./,
    );
    assert.equal(
      sentenceOf('invalid', wide, { invalidReason: { kind: 'several arms', arm: 'B', share: 0.123 } }),
      'Do not use these figures: 12 % of the visitors of B saw more than one arm. Check how your page remembers the arm of a visitor.',
    );
    assert.equal(
      sentenceOf('invalid', wide, { invalidReason: { kind: 'no unit', share: 0.072 } }),
      'Do not use these figures: 7.2 % of the sessions have no unit_id, so their visitors are unknown. Send unit_id with each session: a share of up to 5 % without it is allowed.',
    );
  });
});

describe('sentence of the last results, which a closing stores', () => {
  const withAdvice: Partial<ExperimentFindings> = {
    plannings: [{ unitsNeeded: 900, unitsLeft: 400, daysLeft: 34, smallestEffect: null }],
    capUsd: 500,
  };

  it('gives no advice about later looks', () => {
    const difference = 'No difference shown yet: B earns between 9 % less and 41 % more per session than A.';
    const cap = 'Revenue of a session above 500.00 USD counts as 500.00 USD.';
    assert.match(sentenceOf('undecided', wide, withAdvice), /You may look .* Planned day: .* about 34 more days/);
    assert.equal(sentenceOf('undecided', wide, { ...withAdvice, isLast: true }), `${difference} ${cap}`);
    assert.equal(
      describeExperiment(findingsOf(['worse', 'undecided'], [wide, wide], { ...withAdvice, isLast: true })),
      `No arm is shown to earn more than A yet. B earns less than A. C is not shown to differ from A yet. ${cap}`,
    );
  });

  it('never mentions days that follow the closing', () => {
    const arms = [armOf('A'), armOf('B', { unitsWithRevenue: 14, matureDays: 11, matureUnits: 900 })];
    for (const decision of allDecisions) {
      const comparison = decision === 'better' || decision === 'worse' ? { ...wide, final: finalOf(decision) } : wide;
      const invalidReason = { kind: 'no unit', share: 0.072 } as const;
      const more = { ...withAdvice, arms, invalidReason, isLast: true };
      const looks = { ...closedGate, comparisons: [comparison] };
      const sentence = sentenceOf(decision, comparison, { ...more, looks });
      assert.doesNotMatch(sentence, /look every day|more days|at the present rate|Planned day/, decision);
    }
  });
});

describe('sentence of an experiment with several arms', () => {
  const better: Comparison = { ...wide, look: lookOf(0.04, 0.27, 0.55), final: finalOf('better') };
  const noLongerBetter: Comparison = { ...wide, final: finalOf('better') };
  const worse: Comparison = { ...wide, look: lookOf(-0.5, -0.3, -0.1), final: finalOf('worse') };

  it('groups the arms by their decisions', () => {
    assert.equal(
      describeExperiment(
        findingsOf(['better', 'better', 'better', 'worse', 'undecided'], [better, better, noLongerBetter, worse, wide]),
      ),
      'B and C earn more than A. D was found to earn more than A, but the present figures no longer show this. E earns less than A. F is not ' +
        'shown to differ from A yet. The better arms are not compared with each other. You may look every day; the interval allows for it. Planned ' +
        'day: 3 March 2027 (UTC).',
    );
    assert.equal(
      describeExperiment(findingsOf(['worse', 'equivalent', 'undecided'], [worse, wide, wide], { plannedDay: null })),
      'No arm is shown to earn more than A yet. B earns less than A. C earns the same as A within 5 %. D is not shown to differ from A yet. You may ' +
        'look every day; the interval allows for it.',
    );
    assert.equal(describeExperiment(findingsOf(['worse', 'worse'], [worse, worse])), 'B and C earn less than A.');
    assert.equal(
      describeExperiment(findingsOf(['worse', 'no_decision'], [worse, wide], { capUsd: 250 })),
      'The plan is over without a winner. B earns less than A. C is not shown to differ from A. Revenue of a session above 250.00 USD counts as ' +
        '250.00 USD.',
    );
    assert.equal(
      describeExperiment(findingsOf(['worse', 'equivalent'], [worse, wide])),
      'No arm is shown to earn more than A. B earns less than A. C earns the same as A within 5 %.',
    );
  });

  it('is the common sentence if the figures of all arms are missing or must not be used', () => {
    const looks = { ...closedGate, comparisons: [none, none] };
    assert.match(
      describeExperiment(
        findingsOf(['too_early', 'too_early'], [none, none], {
          looks,
          arms: [armOf('A'), armOf('B'), armOf('C', { matureDays: 3 })],
        }),
      ),
      /^Too early to say: C has 3 of the 14 days/,
    );
    assert.match(
      describeExperiment(findingsOf(['exploratory', 'exploratory'], [wide, wide])),
      /^For ideas, not for decisions/,
    );
  });
});

describe('numbers in sentences', () => {
  const magnitude = fc.oneof(
    fc.integer({ min: 0, max: 3_000_000 }).map((millionths) => millionths / 1e6),
    fc.integer({ min: 0, max: 1_000_000_000 }).map((millionths) => millionths / 1e4),
    fc.double({ min: 0, max: 1, noNaN: true }),
  );

  /** Reads the limits of a range in words. */
  function readRange(range: string): [number, number] {
    const match = /^between ([\d,.]+) (?:%|USD)( less)? and ([\d,.]+) (?:%|USD) (less|more)$/.exec(range);
    assert.ok(match, range);
    const [first, second] = [match[1]!, match[3]!].map((text) => Number(text.replaceAll(',', '')));
    if (match[2] !== undefined) return [-first!, second!];
    return match[4] === 'more' ? [first!, second!] : [-second!, -first!];
  }

  it('never claim more than the interval, and at most a tenth more uncertainty or the last digit', () => {
    fc.assert(
      fc.property(magnitude, magnitude, fc.constantFrom(-1, 0, 1), fc.boolean(), (one, two, sign, isRelative) => {
        const [small, large] = [Math.min(one, two), Math.max(one, two)];
        const [low, high] = sign === 0 ? [-one, two] : sign > 0 ? [small, large] : [-large, -small];
        const interval = { low, value: (low + high) / 2, high };
        const look = { difference: interval, relative: isRelative ? interval : null, pValue: 1 };
        const scale = isRelative ? 100 : 1;
        const [saidLow, saidHigh] = readRange(describeDifference(look).range).map((limit) => limit / scale) as [
          number,
          number,
        ];
        const slack = (limit: number) => 1e-8 * Math.abs(limit) + 1e-11;
        assert.ok(saidLow <= low + slack(low) && saidHigh >= high - slack(high));
        const step = (limit: number) => Math.max(isRelative ? 0.001 : 1e-6, Math.abs(limit) * 0.1) + slack(limit);
        assert.ok(saidLow >= low - step(low) && saidHigh <= high + step(high), `${low} ${high} ${saidLow} ${saidHigh}`);
      }),
    );
  });

  it('are always numbers, in complete sentences', () => {
    const limits = fc.tuple(magnitude, magnitude, magnitude).map((numbers) => {
      const [low, value, high] = numbers.map((number, index) => (index === 0 ? -number : number)).sort((a, b) => a - b);
      return { low: Math.max(-1, low!), value: value!, high: high! };
    });
    const counts = fc.record({
      weight: fc.integer({ min: 1, max: 90 }),
      units: fc.nat(1e6),
      matureUnits: fc.nat(1e5),
      matureDays: fc.nat(500),
      unitsWithRevenue: fc.nat(40),
    });
    const planning = fc.record({
      unitsNeeded: fc.nat(1e6),
      unitsLeft: fc.nat(1e6),
      daysLeft: fc.option(fc.nat(2_000)),
      smallestEffect: fc.option(fc.double({ min: 1e-6, max: 5, noNaN: true })),
    });
    const arm = fc.record({
      counts,
      limits,
      planning: fc.option(planning),
      state: fc.constantFrom(...allDecisions),
      hasLook: fc.boolean(),
    });
    fc.assert(
      fc.property(
        counts,
        fc.array(arm, { minLength: 1, maxLength: 9 }),
        fc.boolean(),
        (control, others, isPlanOver) => {
          const comparisons = others.map(({ limits: { low, value, high }, state, hasLook }) => ({
            look: hasLook || state === 'equivalent' ? lookOf(low, value, high) : null,
            pValue: null,
            final: state === 'better' || state === 'worse' ? finalOf(state) : null,
          }));
          const findings = findingsOf(
            others.map(({ state }) => state),
            comparisons,
            {
              arms: [control, ...others.map((other) => other.counts)].map((counts, index) => ({
                ...counts,
                name: 'ABCDEFGHIJ'[index]!,
                matureUnits: Math.max(counts.matureUnits, counts.unitsWithRevenue),
              })),
              looks: { asOf: 20_000, isGateOpen: false, isPlanOver, comparisons },
              plannings: others.map(({ planning }) => planning),
              invalidReason: { kind: 'split' },
            },
          );
          for (const sentence of [
            describeExperiment(findings),
            ...others.map((_, index) => describeComparison(findings, index)),
          ]) {
            assert.doesNotMatch(sentence, /NaN|Infinity|undefined|null|-\d|\.\.| {2}/);
            assert.match(sentence, /^[A-Z].*\.$/);
          }
        },
      ),
    );
  });
});
