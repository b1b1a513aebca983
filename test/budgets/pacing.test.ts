import assert from 'node:assert/strict';
import { test } from 'node:test';
import { largestClickMicros, pacedOffers, simulateMonth } from './pacing-simulation.ts';

const month = simulateMonth(20_260_501);

for (const offer of pacedOffers) {
  test(`even pacing with a budget ${offer.replaceAll('-', ' ')} follows the distribution of the clicks at every hour of a month`, () => {
    const late = month[offer].filter(
      ({ bookedMicros, idealMicros, dayBudgetMicros }) =>
        Math.abs(bookedMicros - idealMicros) > 0.05 * dayBudgetMicros + largestClickMicros,
    );
    assert.equal(month[offer].length, 31 * 24);
    assert.deepEqual(late, []);
  });

  test(`even pacing with a budget ${offer.replaceAll('-', ' ')} leaves at most 2 % or one click of a day's budget unused`, () => {
    const dayEnds = month[offer].filter((_hour, index) => index % 24 === 23);
    for (const { bookedMicros, dayBudgetMicros } of dayEnds) {
      assert.ok(dayBudgetMicros - bookedMicros <= Math.max(0.02 * dayBudgetMicros, largestClickMicros));
      if (offer === 'per-day') assert.ok(bookedMicros <= dayBudgetMicros);
    }
  });
}

test('even pacing spends a budget per month until the end of the month, and never more, also with a larger budget per day', () => {
  for (const offer of ['per-month', 'per-day-and-month'] as const) {
    const spent = month[offer].filter((_hour, index) => index % 24 === 23);
    const total = spent.reduce((sum, { bookedMicros }) => sum + bookedMicros, 0);
    assert.ok(total <= 9_000_000_000 && total >= 9_000_000_000 - 3 * largestClickMicros, `${total}`);
  }
});
