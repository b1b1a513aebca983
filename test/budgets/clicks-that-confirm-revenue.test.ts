import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { offersViewedRecord } from '../support/ledger-records.ts';
import { AvailabilityBench, catalogWithOffers } from './availability-bench.ts';

const noon = Date.UTC(2026, 4, 20, 12);
const perClick: Vertical = { ...personalLoans, number: 99, clicksConfirmRevenue: true };
const offerIds = Array.from({ length: 12 }, (_, number) => `offer-${String(number).padStart(2, '0')}`);
const booked = { hasValue: true, isBooked: true, unbookedReason: null, confirmsRevenue: true };
const repeated = { hasValue: false, isBooked: null, unbookedReason: null };
const refused = (unbookedReason: string) => ({ hasValue: false, isBooked: false, unbookedReason });

function openBench(changes: Parameters<typeof catalogWithOffers>[0] = {}): AvailabilityBench {
  const offers = Object.fromEntries(offerIds.map((id) => [id, {}]));
  return new AvailabilityBench(catalogWithOffers({ ...offers, ...changes }, perClick), noon);
}

/** Passes the fields of a decision that matter for revenue. */
function click(bench: AvailabilityBench, sub: Buffer, offerId = offerIds[0]!) {
  const { confirmsRevenue, ...decision } = bench.click(sub, offerId);
  return confirmsRevenue === true ? { ...decision, confirmsRevenue } : decision;
}

for (const { restarts, when } of [
  { restarts: false, when: '' },
  { restarts: true, when: ' after a restart' },
]) {
  const restart = async (bench: AvailabilityBench) => {
    if (!restarts) return;
    bench.saveSnapshot();
    await bench.restart();
  };

  describe(`clicks that confirm their own revenue${when}`, () => {
    it('a click less than 500 ms after the first response counts once and books no revenue; a later click books revenue', async () => {
      const bench = openBench();
      const sub = bench.session();
      bench.nowMs += 200;
      await restart(bench);
      assert.deepEqual(click(bench, sub), refused('too_fast'));
      await restart(bench);
      bench.nowMs += bounds.clickDelayMsMin - 201;
      assert.deepEqual(click(bench, sub), { ...repeated, needsRecord: false });
      await restart(bench);
      bench.nowMs++;
      assert.deepEqual(click(bench, sub), booked);
      await restart(bench);
      assert.deepEqual(click(bench, sub), repeated);
    });

    it('measures the time from the first response with the offer, not from a later response', async () => {
      const bench = openBench();
      const sub = bench.session();
      bench.nowMs += 10_000;
      bench.append(offersViewedRecord(sub, offerIds, bench.nowMs));
      await restart(bench);
      assert.deepEqual(click(bench, sub), booked);
    });

    it('a click on the eleventh offer of a session books no revenue', async () => {
      const bench = openBench();
      const [sub, other] = [bench.session(), bench.session()];
      bench.nowMs += bounds.clickDelayMsMin;
      for (const id of offerIds.slice(0, bounds.offersBookedPerSessionMax)) {
        assert.deepEqual(click(bench, sub, id), booked);
        await restart(bench);
      }
      assert.deepEqual(click(bench, sub, offerIds[10]!), refused('too_many_offers'));
      await restart(bench);
      assert.deepEqual(click(bench, sub, offerIds[10]!), repeated);
      assert.deepEqual(click(bench, sub, offerIds[11]!), refused('too_many_offers'));
      assert.deepEqual(click(bench, other, offerIds[11]!), booked);
    });

    it('clicks without revenue do not count as one of the ten offers', async () => {
      const bench = openBench({ capped: { daily_cap: 1 }, small: { budget: { per_day_usd: 0.5, pacing: 'asap' } } });
      const [sub, first] = [bench.session(), bench.session()];
      assert.deepEqual(click(bench, sub, offerIds[11]!), refused('too_fast'));
      bench.nowMs += bounds.clickDelayMsMin;
      assert.deepEqual(click(bench, first, 'capped'), booked);
      await restart(bench);
      assert.deepEqual(click(bench, sub, 'capped'), refused('cap'));
      assert.deepEqual(click(bench, sub, 'small'), refused('budget'));
      await restart(bench);
      for (const id of offerIds.slice(0, 10)) assert.deepEqual(click(bench, sub, id), booked);
    });

    it('a click on an offer that the session did not get is not counted', async () => {
      const bench = openBench();
      const sub = bench.session([offerIds[1]!]);
      bench.nowMs += bounds.clickDelayMsMin;
      await restart(bench);
      assert.deepEqual(click(bench, sub), repeated);
    });
  });
}

it('a click after the clock was set back is not too fast', () => {
  const bench = openBench();
  const sub = bench.session();
  bench.nowMs -= 1_000;
  assert.deepEqual(click(bench, sub), booked);
});

it('assumes that the offer was shown and the click was not too fast if the responses of the session were evicted', () => {
  const bench = new AvailabilityBench(openBench().catalog, noon, offerIds.length);
  const evicted = bench.session();
  bench.nowMs += 60_000;
  bench.session();
  assert.deepEqual(click(bench, evicted), booked);
});

it('verticals in which clicks do not confirm revenue have no limits on fast clicks and on offers per session', () => {
  const offers = Object.fromEntries(offerIds.map((id) => [id, { daily_cap: 10 }]));
  const bench = new AvailabilityBench(catalogWithOffers(offers), noon);
  const sub = bench.session();
  for (const id of offerIds) {
    assert.deepEqual(click(bench, sub, id), { hasValue: true, isBooked: true, unbookedReason: null });
  }
});
