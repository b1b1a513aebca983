import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import { daysSinceEpoch, monthOfDay, msPerDay } from '../../src/domain/calendar.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';
import { revenueConfirmedRecord } from '../support/ledger-records.ts';
import { AvailabilityBench, type Band, type Budget, catalogWithOffers, clickUsd } from './availability-bench.ts';

const hourMs = 60 * 60 * 1000;
const noon = Date.UTC(2026, 4, 20, 12);

const benchWith = (budget: Budget, nowMs = noon) =>
  new AvailabilityBench(catalogWithOffers({ a: { budget }, b: {} }), nowMs);

/** Clicks an offer in new sessions until it is hidden. Returns the number of clicks that booked revenue. */
function clickUntilHidden(bench: AvailabilityBench, band: Band = 'low'): number {
  let booked = 0;
  for (; bench.hidden().a === undefined; booked++) assert.equal(bench.clickOnce('a', band), true);
  return booked;
}

describe('budgets', () => {
  it('clicks book revenue until the budget of the day is used up; then the offer is hidden until midnight', () => {
    const bench = benchWith({ per_day_usd: 2.3, pacing: 'asap' });
    const late = bench.session();
    assert.equal(clickUntilHidden(bench), 3);
    assert.deepEqual(bench.hidden(), { a: ['budget'] });
    assert.deepEqual(bench.click(late, 'a'), { hasValue: false, isBooked: false, unbookedReason: 'budget' });
    assert.equal(bench.bookings.countUnavailableOffers('budget', bench.nowMs), 1);
    bench.nowMs += 12 * hourMs - 1;
    assert.deepEqual(bench.hidden(), { a: ['budget'] });
    bench.nowMs++;
    assert.deepEqual(bench.hidden(), {});
    // The refused click was the first click of its session.
    assert.equal(bench.click(late, 'a').isBooked, null);
  });

  it('a click that exactly uses up the budget books revenue', () => {
    const bench = benchWith({ per_day_usd: 2.25, pacing: 'asap' });
    assert.equal(clickUntilHidden(bench), 3);
  });

  it('hides an offer after the budget refused a click of the day, until a larger budget has room for the largest click', async () => {
    const bench = benchWith({ per_day_usd: 4, pacing: 'asap' });
    assert.equal(bench.clickOnce('a', 'high'), true);
    assert.deepEqual(bench.hidden(), {});
    assert.equal(bench.clickOnce('a', 'high'), false);
    assert.deepEqual(bench.hidden(), { a: ['budget'] });
    await bench.restart();
    assert.deepEqual(bench.hidden(), { a: ['budget'] });
    await bench.reload(catalogWithOffers({ a: { budget: { per_day_usd: 5, pacing: 'asap' } } }));
    assert.deepEqual(bench.hidden(), {});
    assert.equal(bench.clickOnce('a', 'high'), true);
  });

  it('a budget per month lasts until the end of the month, also in February of a leap year', async () => {
    const bench = benchWith({ per_month_usd: 1.5, pacing: 'asap' }, Date.UTC(2028, 1, 1, 12));
    assert.equal(clickUntilHidden(bench), 2);
    bench.nowMs = Date.UTC(2028, 1, 29, 23, 59, 59, 999);
    assert.deepEqual(bench.hidden(), { a: ['budget'] });
    assert.equal(bench.clickOnce('a'), false);
    await bench.restart();
    assert.deepEqual(bench.hidden(), { a: ['budget'] });
    bench.nowMs++;
    assert.deepEqual(bench.hidden(), {});
    assert.equal(bench.clickOnce('a'), true);
    // The clock is set back into February.
    bench.nowMs -= hourMs / 2;
    await bench.restart({ usesSnapshot: false });
    assert.deepEqual(bench.hidden(), { a: ['budget'] });
    assert.equal(bench.clickOnce('a'), false);
  });

  it('a new budget counts the revenue that the offer booked earlier in the month', async () => {
    const bench = new AvailabilityBench(catalogWithOffers({ a: {} }), noon - 10 * msPerDay);
    for (let click = 0; click < 3; click++) assert.equal(bench.clickOnce('a'), undefined);
    bench.nowMs = noon;
    const repeating = bench.session();
    for (let click = 0; click < 3; click++) bench.click(repeating, 'a');
    bench.saveSnapshot();
    await bench.restart();
    await bench.reload(catalogWithOffers({ a: { budget: { per_month_usd: 4, pacing: 'asap' } } }));
    assert.equal(clickUntilHidden(bench), 1);
  });

  it('a removed offer that returns in the same month continues with the revenue that it has booked', async () => {
    const bench = benchWith({ per_month_usd: 3, pacing: 'asap' });
    assert.equal(bench.clickOnce('a'), true);
    await bench.reload(catalogWithOffers({ b: {} }));
    bench.nowMs += bounds.replacedCatalogRetentionMs;
    bench.saveSnapshot();
    await bench.restart();
    bench.nowMs += msPerDay;
    await bench.reload(catalogWithOffers({ a: { budget: { per_month_usd: 3, pacing: 'asap' } } }));
    assert.equal(clickUntilHidden(bench), 3);
  });

  it('a click that a confirmation restores counts towards the budget', () => {
    const bench = benchWith({ per_day_usd: 2.25, pacing: 'asap' });
    const sub = bench.session();
    const click = { clickedMs: bench.nowMs, valueMicros: 750_000 };
    bench.nowMs += hourMs;
    bench.append(revenueConfirmedRecord(sub, 'a', { click, wallMs: bench.nowMs, occurredMs: bench.nowMs }));
    assert.equal(bench.click(sub, 'a').isBooked, null);
    assert.equal(clickUntilHidden(bench), 2);
  });

  it('a restored click books no revenue beyond the budget, and none more than 24 hours after the session', () => {
    const bench = benchWith({ per_day_usd: 1.5, pacing: 'asap' });
    const sub = bench.session();
    const { nowMs: clickedMs } = bench;
    const limit = (atMs: number) => bench.decider.computeRestoredClickRevenueMicros(sub, 'a', clickedMs, atMs, 750_000);
    assert.equal(limit(clickedMs + hourMs), 750_000);
    assert.equal(limit(clickedMs + msPerDay + 1), 0);
    assert.equal(bench.clickOnce('a'), true);
    assert.equal(limit(clickedMs + hourMs), 750_000);
    assert.equal(bench.clickOnce('a'), true);
    assert.equal(limit(clickedMs + hourMs), 0);
    assert.equal(
      bench.decider.computeRestoredClickRevenueMicros(sub, 'b', clickedMs, clickedMs + msPerDay + 1, 750_000),
      750_000,
    );
  });

  it('a restored click on an offer without a limit counts towards a budget that is added later', async () => {
    const bench = new AvailabilityBench(catalogWithOffers({ a: {} }), noon);
    const click = { clickedMs: bench.nowMs, valueMicros: 750_000 };
    bench.append(revenueConfirmedRecord(bench.session(), 'a', { click, wallMs: bench.nowMs, occurredMs: bench.nowMs }));
    await bench.reload(catalogWithOffers({ a: { budget: { per_day_usd: 2.25, pacing: 'asap' } } }));
    assert.equal(clickUntilHidden(bench), 2);
  });

  for (const [title, aheadMs] of [
    ['two days', 2 * msPerDay],
    ['two months', 61 * msPerDay],
  ] as const) {
    it(`books nothing beyond the budget after the clock was ahead by ${title}`, async () => {
      const bench = benchWith({ per_day_usd: 2.25, per_month_usd: 6, pacing: 'asap' });
      assert.equal(clickUntilHidden(bench), 3);
      bench.nowMs += aheadMs;
      assert.equal(bench.clickOnce('a'), true);
      bench.nowMs -= aheadMs;
      assert.deepEqual(bench.hidden(), { a: ['budget'] });
      bench.saveSnapshot();
      for (const usesSnapshot of [true, false]) {
        await bench.restart({ usesSnapshot });
        assert.deepEqual(bench.hidden(), { a: ['budget'] });
        assert.equal(bench.clickOnce('a'), false);
      }
    });
  }

  it('books nothing on a day whose booked revenue is no longer stored', () => {
    const bench = benchWith({ per_day_usd: 2.25, pacing: 'asap' });
    assert.equal(bench.clickOnce('a'), true);
    for (let day = 1; day <= bounds.bookedDaysStoredMax; day++) {
      bench.nowMs += msPerDay;
      assert.equal(bench.clickOnce('a'), true);
    }
    bench.nowMs -= bounds.bookedDaysStoredMax * msPerDay;
    assert.equal(bench.clickOnce('a'), false);
    assert.deepEqual(bench.hidden(), { a: ['budget'] });
  });

  it('does not use a snapshot that was written while the clock was months ahead', async () => {
    const bench = benchWith({ per_month_usd: 2.25, pacing: 'asap' });
    assert.equal(clickUntilHidden(bench), 3);
    bench.nowMs += 61 * msPerDay;
    await bench.restart();
    assert.equal(bench.clickOnce('a'), true);
    bench.saveSnapshot();
    bench.nowMs -= 61 * msPerDay;
    // The service has not read the clicks of this month.
    assert.deepEqual(bench.hidden(), { a: ['budget'] });
    await bench.restart();
    assert.deepEqual(bench.hidden(), { a: ['budget'] });
    bench.nowMs = Date.UTC(2026, 5, 1);
    assert.equal(clickUntilHidden(bench), 3);
  });

  it('an offer whose clicks have no revenue is never hidden by its budget', () => {
    const bench = new AvailabilityBench(
      catalogWithOffers({ a: { budget: { per_day_usd: 0.01, pacing: 'even' }, payout_usd: 0 } }),
      noon,
    );
    const { isBooked } = bench.decider.decideClick(bench.session(), 'a', bench.nowMs, 0);
    assert.equal(isBooked, true);
    assert.deepEqual(bench.hidden(), {});
  });
});

describe('even pacing', () => {
  it('hides an offer that spends faster than the uniform pace, and shows it again when its spending is within the pace', async () => {
    const bench = benchWith({ per_day_usd: 24, pacing: 'even' }, Date.UTC(2026, 4, 20, 6));
    // At 6:00, a quarter of 24 USD and one click of 0.75 USD: the offer is hidden above 6.75 USD.
    assert.equal(clickUntilHidden(bench), 10);
    assert.deepEqual(bench.hidden(), { a: ['paced'] });
    assert.equal(bench.bookings.countUnavailableOffers('paced', bench.nowMs), 1);
    // A click on a link from before books revenue. 8.25 USD - 0.75 USD are reached at 7:30.
    assert.equal(bench.clickOnce('a'), true);
    bench.nowMs = Date.UTC(2026, 4, 20, 7, 29, 58);
    assert.deepEqual(bench.hidden(), { a: ['paced'] });
    bench.nowMs += 2_000;
    assert.deepEqual(bench.hidden(), {});
    assert.equal(bench.clickOnce('a'), true);
    assert.deepEqual(bench.hidden(), { a: ['paced'] });
    await bench.restart();
    assert.deepEqual(bench.hidden(), { a: ['paced'] });
    bench.nowMs = Date.UTC(2026, 4, 21);
    assert.deepEqual(bench.hidden(), {});
  });

  it('divides the rest of a budget per month by the remaining days', () => {
    const bench = benchWith({ per_month_usd: 28 * 24, pacing: 'even' }, Date.UTC(2028, 1, 2, 6));
    // 28 days are left in February 2028.
    assert.equal(clickUntilHidden(bench), 10);
    bench.nowMs += msPerDay;
    // The unused budget of the first day is distributed over 27 days: 24.61 USD a day, of which a quarter is 6.15 USD.
    assert.equal(clickUntilHidden(bench), 10);
    bench.nowMs = Date.UTC(2028, 1, 29, 6);
    // On the last day, a quarter of 657 USD, and one click: hidden above 165 USD.
    assert.equal(clickUntilHidden(bench), 221);
  });

  it('follows the smaller of the budget per day and the day’s part of the budget per month', () => {
    const at = Date.UTC(2026, 4, 20, 6);
    // 12 days are left in May. The day's part is 12 USD, of which a quarter is 3 USD: hidden above 3.75 USD.
    const month = benchWith({ per_day_usd: 24, per_month_usd: 12 * 12, pacing: 'even' }, at);
    assert.equal(clickUntilHidden(month), 6);
    // The day's part is 48 USD, which is more than the budget per day.
    const day = benchWith({ per_day_usd: 24, per_month_usd: 48 * 12, pacing: 'even' }, at);
    assert.equal(clickUntilHidden(day), 10);
  });

  it('paces by the click times of the last 14 days if these days have at least 1,000 clicks', async () => {
    const bench = benchWith({ per_day_usd: 24, pacing: 'even' }, Date.UTC(2026, 4, 1, 3));
    const clickOther = (clicks: number) => {
      for (let click = 0; click < clicks; click++) bench.clickOnce('b');
    };
    clickOther(250);
    bench.nowMs += msPerDay;
    clickOther(250);
    bench.nowMs += 6 * hourMs;
    clickOther(499);
    bench.nowMs = Date.UTC(2026, 4, 15, 6);
    assert.equal(clickUntilHidden(bench), 10);
    bench.nowMs = Date.UTC(2026, 4, 13, 9);
    clickOther(1);
    bench.nowMs = Date.UTC(2026, 4, 15, 6);
    await bench.restart({ usesSnapshot: false });
    // Half of the clicks come before 6:00: 12 USD and one click.
    assert.deepEqual(bench.hidden(), {});
    assert.equal(clickUntilHidden(bench), 17 - 10 + 1);
    bench.nowMs = Date.UTC(2026, 4, 16, 6);
    // The clicks of 1 May are older than 14 days; the remaining clicks are too few.
    assert.equal(clickUntilHidden(bench), 10);
  });
});

describe('outdated offers', () => {
  it('hides an offer more than max_age_days after its as_of date, and counts outdated offers', () => {
    const offers = { a: { as_of: '2026-05-10' }, b: { as_of: '2026-05-11' }, c: {} } as Parameters<
      typeof catalogWithOffers
    >[0];
    const { tables, vertical, ...rest } = catalogWithOffers(offers);
    const aged = Object.assign(catalogWithOffers(offers), { ...rest, maxAgeDays: 10 });
    assert.ok(tables && vertical);
    const bench = new AvailabilityBench(aged, Date.UTC(2026, 4, 20, 23, 59));
    assert.deepEqual(bench.hidden(), {});
    bench.nowMs += 60_000;
    assert.deepEqual(bench.hidden(), { a: ['outdated'] });
    assert.equal(bench.bookings.countOutdatedOffers(bench.catalog, bench.nowMs), 1);
    assert.equal(bench.clickOnce('a'), undefined);
    bench.nowMs += msPerDay;
    assert.deepEqual(Object.keys(bench.hidden()), ['a', 'b']);
  });
});

const ids = ['asap', 'even', 'later'] as const;
const anyUsd = fc.constantFrom(0.75, 2, 3.3, 5, 12.34);
const anyBudget: fc.Arbitrary<Budget> = fc
  .record({ day: fc.option(anyUsd), month: anyUsd, pacing: fc.constantFrom('asap' as const, 'even' as const) })
  .map(({ day, month, pacing }) => ({
    ...(day === null ? {} : { per_day_usd: Math.min(day, month) }),
    per_month_usd: month,
    pacing,
  }));
const event = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('click' as const),
      offer: fc.constantFrom(...ids),
      band: fc.constantFrom<Band>('low', 'high'),
      session: fc.constantFrom('new', 'last' as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      hours: fc.constantFrom(0.02, 0.5, 3, 11, 25, 24 * 9, 24 * 33),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('set-back' as const), minutes: fc.integer({ min: 1, max: 60 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('snapshot' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('restart' as const), usesSnapshot: fc.boolean(), lost: fc.nat(2) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reload' as const), budget: fc.option(anyBudget) }) },
);

/** Returns the booked revenue by offer and by day or month, according to the decisions in the ledger. */
function bookedMicros(ledger: readonly LedgerRecord[], periodOf: (wallMs: number) => number): Map<string, number> {
  const sums = new Map<string, number>();
  for (const record of ledger) {
    if (record[0] !== 3 || record[7] !== true) continue;
    const key = `${record[4]} ${periodOf(record[1])}`;
    sums.set(key, (sums.get(key) ?? 0) + record[6]);
  }
  return sums;
}

const monthNumber = (wallMs: number) => monthOfDay(daysSinceEpoch(wallMs)).number;

/** Returns the figures that decide about clicks in the next hours: those of the current day and month, and the click distribution. */
function currentFigures(bench: AvailabilityBench): unknown {
  const day = daysSinceEpoch(bench.nowMs);
  return bench.listFigures().map(({ key, bookings, clickCounts }) => [
    key,
    bookings
      .map(([id, [days, months]]) => [
        id,
        days.filter(([ofDay]) => ofDay === day).map(([, , ...figures]) => figures),
        months.filter(([month]) => month === monthNumber(bench.nowMs)),
      ])
      .filter(([, days, months]) => days!.length + months!.length > 0)
      .sort(([one], [other]) => (String(one) < String(other) ? -1 : 1)),
    clickCounts
      .filter(([ofDay]) => ofDay >= day - bounds.clickDistributionDays && ofDay <= day)
      .sort(([one], [other]) => one - other),
  ]);
}

it('clicks never exceed a budget, and a restart changes no figure, for any order of events', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyBudget,
      anyBudget,
      fc.array(event, { maxLength: 150, size: 'max' }),
      async (one, two, events) => {
        const catalogOf = (later: Budget | null) =>
          catalogWithOffers({
            asap: { budget: { ...one, pacing: 'asap' } },
            even: { budget: { ...two, pacing: 'even' } },
            later: later === null ? {} : { budget: later },
          });
        const bench = new AvailabilityBench(catalogOf(null), Date.UTC(2028, 1, 27, 20));
        let latestMs = bench.nowMs;
        let session = bench.session();
        const budgets: Record<string, Budget | null> = { asap: one, even: two, later: null };
        let laterBudgetChanged = false;
        for (const each of events) {
          if (each.kind === 'click') {
            const isOld =
              bench.nowMs - session.readUIntBE(0, 6) > 20 * hourMs || session.readUIntBE(0, 6) > bench.nowMs;
            if (each.session === 'new' || isOld) session = bench.session();
            const before = bench.ledger.length;
            const decision = bench.click(session, each.offer, each.band);
            const booked = bench.ledger.slice(0, before);
            const budget = budgets[each.offer];
            if (decision.unbookedReason === 'budget' && !(each.offer === 'later' && laterBudgetChanged)) {
              const usedDay =
                bookedMicros(booked, daysSinceEpoch).get(`${each.offer} ${daysSinceEpoch(bench.nowMs)}`) ?? 0;
              const usedMonth = bookedMicros(booked, monthNumber).get(`${each.offer} ${monthNumber(bench.nowMs)}`) ?? 0;
              const { per_day_usd: day = Number.POSITIVE_INFINITY, per_month_usd: month = Number.POSITIVE_INFINITY } =
                budget!;
              // The click was refused only because it does not fit.
              const micros = clickUsd[each.band] * 1e6;
              assert.ok(usedDay + micros > day * 1e6 || usedMonth + micros > month * 1e6);
            }
          } else if (each.kind === 'wait') bench.nowMs += each.hours * hourMs;
          else if (each.kind === 'set-back') {
            bench.nowMs = Math.max(bench.nowMs - each.minutes * 60_000, latestMs - bounds.clockSetBackMsMax);
          } else if (each.kind === 'snapshot') bench.startSnapshot();
          else if (each.kind === 'reload') {
            await bench.reload(catalogOf(each.budget));
            budgets.later = each.budget;
            laterBudgetChanged = true;
          } else {
            // Without the lost records, the restarted service must be in the state of a service that never got them.
            if (each.lost > 0) {
              await bench.restart({ usesSnapshot: each.usesSnapshot, lost: each.lost });
              session = bench.session();
            }
            const [figures, hidden] = [currentFigures(bench), bench.hidden()];
            await bench.restart({ usesSnapshot: each.usesSnapshot });
            assert.deepEqual(currentFigures(bench), figures);
            if (bench.nowMs >= latestMs) assert.deepEqual(bench.hidden(), hidden);
          }
          latestMs = Math.max(latestMs, bench.nowMs);
          for (const id of ['asap', 'even'] as const) {
            const { per_day_usd: day, per_month_usd: month } = budgets[id]!;
            for (const [key, micros] of bookedMicros(bench.ledger, daysSinceEpoch)) {
              if (key.startsWith(id) && day !== undefined) assert.ok(micros <= day * 1e6, `${key}: ${micros}`);
            }
            for (const [key, micros] of bookedMicros(bench.ledger, monthNumber)) {
              if (key.startsWith(id) && month !== undefined) assert.ok(micros <= month * 1e6, `${key}: ${micros}`);
            }
          }
        }
      },
    ),
    { numRuns: 150 },
  );
});
