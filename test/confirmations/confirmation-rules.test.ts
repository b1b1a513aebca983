import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import type { Confirmation, Payout } from '../../src/confirmations/confirmation.ts';
import {
  applyToPayout,
  checkConfirmation,
  type PayoutState,
  revenueDeltaMicros,
} from '../../src/confirmations/confirmation.ts';
import { subOf } from '../support/ledger-records.ts';

const { confirmationClockSkewMs: skewMs } = bounds;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const createdMs = Date.UTC(2026, 4, 20, 12);
const clickedMs = createdMs + hourMs;
const occurredMs = clickedMs + 20 * dayMs;
const nowMs = occurredMs + dayMs;
const sub = subOf({ createdMs, serial: 1 });

const funded: Confirmation = {
  status: 'funded',
  sub,
  offerId: 'an-offer',
  txid: 'tx-1',
  amountMicros: 40_000_000,
  occurredMs,
  click: null,
};
const reversed: Confirmation = { ...funded, status: 'reversed', occurredMs: occurredMs + hourMs };
const clicked: PayoutState = { offerShown: true, clickedMs, sessionRevenueMicros: 0, payout: null };
const withPayout: PayoutState = {
  ...clicked,
  sessionRevenueMicros: 40_000_000,
  payout: { funded: { amountMicros: 40_000_000, occurredMs }, reversed: null },
};
const withoutClick: PayoutState = { ...clicked, clickedMs: null };

function check(confirmation: Partial<Confirmation>, state: Partial<PayoutState> = {}, now = nowMs): string {
  return checkConfirmation({ ...funded, ...confirmation }, { ...clicked, ...state }, now);
}

describe('checkConfirmation', () => {
  it('accepts a payout for a counted click', () => {
    assert.equal(check({}), 'accepted');
  });

  it('accepts a full or partial reversal, and rejects a larger one', () => {
    for (const amountMicros of [1, 39_999_999, 40_000_000]) {
      assert.equal(check({ ...reversed, amountMicros }, withPayout), 'accepted');
    }
    assert.equal(check({ ...reversed, amountMicros: 40_000_001 }, withPayout), 'exceeds_funded');
  });

  it('rejects a reversal without a payout', () => {
    assert.equal(check(reversed), 'txid_unknown');
  });

  it('reports a repeated row as repeated, also after the deadline', () => {
    assert.equal(check({}, withPayout, nowMs + 400 * dayMs), 'repeated');
    const withReversal = { ...withPayout, payout: applyToPayout(reversed, withPayout.payout) };
    assert.equal(check(reversed, withReversal), 'repeated');
    assert.equal(check({}, withReversal), 'repeated');
  });

  it('reports a repeated row with another amount or time as a conflict', () => {
    assert.equal(check({ amountMicros: 40_000_001 }, withPayout), 'conflict');
    assert.equal(check({ occurredMs: occurredMs + 1 }, withPayout), 'conflict');
    const withReversal = { ...withPayout, payout: applyToPayout(reversed, withPayout.payout) };
    assert.equal(check({ ...reversed, amountMicros: 1 }, withReversal), 'conflict');
  });

  it('rejects a payout for a sandbox click', () => {
    assert.equal(check({ sub: subOf({ createdMs, serial: 1, mode: 'test' }) }), 'sandbox');
  });

  it('rejects a payout for an unknown click', () => {
    assert.equal(check({}, withoutClick), 'click_unknown');
  });

  it('accepts a click from a click_id if its offer was shown and the click is within 24 hours', () => {
    const click = (ms: number) => ({ click: { clickedMs: ms, valueMicros: 1 } });
    assert.equal(check(click(clickedMs), withoutClick), 'accepted');
    assert.equal(check(click(clickedMs), { ...withoutClick, offerShown: false }), 'click_unknown');
    assert.equal(check(click(createdMs + bounds.clickAttributionMs), withoutClick), 'accepted');
    assert.equal(check(click(createdMs + bounds.clickAttributionMs + 1), withoutClick), 'click_late');
  });

  it('accepts a click before the creation of its session if the clock was set back', () => {
    const early = createdMs - 2_000;
    assert.equal(check({}, { ...clicked, clickedMs: early }), 'accepted');
    assert.equal(check({ click: { clickedMs: early, valueMicros: 1 } }, withoutClick), 'accepted');
  });

  it('uses the time of the counted click, not the time in the click_id of a repeated click', () => {
    const click = { clickedMs: clickedMs + 5 * hourMs, valueMicros: 1 };
    assert.equal(check({ click, occurredMs: clickedMs }), 'accepted');
    assert.equal(check({ click }, {}, clickedMs + 90 * dayMs + 1), 'too_late');
  });

  it('accepts rows from the time of the click, with clock skew, until 90 days later', () => {
    assert.equal(check({ occurredMs: clickedMs }), 'accepted');
    assert.equal(check({ occurredMs: clickedMs - skewMs }), 'accepted');
    assert.equal(check({ occurredMs: clickedMs - skewMs - 1 }), 'before_click');
    assert.equal(check({}, {}, clickedMs + 90 * dayMs), 'accepted');
    assert.equal(check({}, {}, clickedMs + 90 * dayMs + 1), 'too_late');
    assert.equal(check(reversed, withPayout, clickedMs + 90 * dayMs + 1), 'too_late');
  });

  it('rejects a payout in the future beyond the clock skew', () => {
    assert.equal(check({ occurredMs: nowMs + skewMs }), 'accepted');
    assert.equal(check({ occurredMs: nowMs + skewMs + 1 }), 'in_future');
  });

  it('rejects revenue above the maximum per session', () => {
    const sessionRevenueMicros = bounds.confirmedRevenueUsdMax * 1_000_000 - funded.amountMicros;
    assert.equal(check({}, { sessionRevenueMicros }), 'accepted');
    assert.equal(check({}, { sessionRevenueMicros: sessionRevenueMicros + 1 }), 'session_limit');
  });

  it('keeps every payout between zero and the funded amount for any order of rows', () => {
    const row = fc.record({
      status: fc.constantFrom('funded' as const, 'reversed' as const),
      txid: fc.constantFrom('tx-1', 'tx-2'),
      amountMicros: fc.integer({ min: 1, max: 6 }),
      occurredMs: fc.constantFrom(occurredMs, occurredMs + 1),
    });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 30 }), (rows) => {
        const payouts = new Map<string, Payout>();
        const revenue = new Map<string, number>();
        const firsts = new Map<string, Confirmation>();
        for (const each of rows) {
          const confirmation = { ...funded, ...each };
          const { txid, status } = confirmation;
          const payout = payouts.get(txid) ?? null;
          const decision = checkConfirmation(confirmation, { ...clicked, payout }, nowMs);
          const first = firsts.get(`${txid} ${status}`);
          if (first !== undefined) {
            const same = first.amountMicros === each.amountMicros && first.occurredMs === each.occurredMs;
            assert.equal(decision, same ? 'repeated' : 'conflict');
          }
          if (decision !== 'accepted') continue;
          firsts.set(`${txid} ${status}`, confirmation);
          payouts.set(txid, applyToPayout(confirmation, payout));
          revenue.set(txid, (revenue.get(txid) ?? 0) + revenueDeltaMicros(confirmation));
          for (const [id, micros] of revenue) {
            assert(micros >= 0 && micros <= payouts.get(id)!.funded.amountMicros);
          }
        }
      }),
    );
  });

  it('rejects rows of a session whose clicks are all too old', () => {
    const lastMs = createdMs + 91 * dayMs;
    const unknown = { offerShown: false, clickedMs: null };
    for (const click of [null, { clickedMs, valueMicros: 1 }]) {
      assert.equal(check({ click }, unknown, lastMs), 'click_unknown');
      assert.equal(check({ click }, unknown, lastMs + 1), 'too_late');
    }
  });
});
