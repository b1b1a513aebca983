import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { decodeUnitDays, encodeUnitDays } from '../../src/analytics/experiments/unit-days-encoding.ts';
import { noSessions, sessionFigureNames } from '../../src/experiments/session-figures.ts';

const largest = Number.MAX_SAFE_INTEGER;
const count = fc.oneof(fc.nat({ max: 3 }), fc.nat(), fc.constant(largest));
/** Revenue up to each week, which is never negative. */
const totals = fc.array(fc.oneof(fc.nat(), fc.constantFrom(0, 1, 2 ** 52, 2 ** 52 + 1, largest - 1, largest)), {
  maxLength: 14,
});
const day = fc.record({
  gap: fc.integer({ min: 1, max: 400 }),
  arms: fc.integer({ min: 1, max: 2 ** 10 - 1 }),
  counts: fc.array(count, { minLength: sessionFigureNames.length, maxLength: sessionFigureNames.length }),
  totals,
});

it('decodeUnitDays returns what encodeUnitDays encoded, up to the largest safe integers', () => {
  fc.assert(
    fc.property(fc.array(day, { minLength: 1, maxLength: 4 }), fc.nat({ max: 9 }), (list, arm) => {
      let number = 20_000;
      const days = list.map(({ gap, arms, counts, totals }) => {
        number += gap;
        const figures = { ...noSessions };
        for (const [index, name] of sessionFigureNames.entries()) figures[name] = counts[index]!;
        figures.sessions = Math.max(1, figures.sessions);
        figures.revenueMicrosByWeek = totals.map((total, week) => total - (totals[week - 1] ?? 0));
        return { day: number, arms, figures };
      });
      assert.deepEqual(decodeUnitDays(encodeUnitDays(days, arm), arm, days[0]!.day), days);
    }),
  );
});

it('encodeUnitDays takes 4 bytes for a visitor with one session and one view', () => {
  const figures = { ...noSessions, sessions: 1, views: 1, viewedSessions: 1 };
  assert.equal(encodeUnitDays([{ day: 20_000, arms: 2, figures }], 1).length, 4);
});
