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
} from '../../src/confirmations/confirmation-rules.ts';
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
const paid: PayoutState = {
  ...clicked,
  sessionRevenueMicros: 40_000_000,
  payout: { funded: { amountMicros: 40_000_000, occurredMs }, reversed: null },
};
const unclicked: PayoutState = { ...clicked, clickedMs: null };

function judge(confirmation: Partial<Confirmation>, past: Partial<PayoutState> = {}, now = nowMs): string {
  return checkConfirmation({ ...funded, ...confirmation }, { ...clicked, ...past }, now);
}

describe('the judgement of a confirmation', () => {
  it('accepts a payout for a click that counted', () => {
    assert.equal(judge({}), 'accepted');
  });

  it('accepts a reversal of all or a part of a payout, and not of more', () => {
    for (const amountMicros of [1, 39_999_999, 40_000_000]) {
      assert.equal(judge({ ...reversed, amountMicros }, paid), 'accepted');
    }
    assert.equal(judge({ ...reversed, amountMicros: 40_000_001 }, paid), 'exceeds_funded');
  });

  it('rejects a reversal of what was never funded', () => {
    assert.equal(judge(reversed), 'txid_unknown');
  });

  it('calls the same row again a repeat, also when it would come too late by now', () => {
    assert.equal(judge({}, paid, nowMs + 400 * dayMs), 'repeated');
    const taken = { ...paid, payout: applyToPayout(reversed, paid.payout) };
    assert.equal(judge(reversed, taken), 'repeated');
    assert.equal(judge({}, taken), 'repeated');
  });

  it('calls a repeat with another amount or another time a conflict', () => {
    assert.equal(judge({ amountMicros: 40_000_001 }, paid), 'conflict');
    assert.equal(judge({ occurredMs: occurredMs + 1 }, paid), 'conflict');
    const taken = { ...paid, payout: applyToPayout(reversed, paid.payout) };
    assert.equal(judge({ ...reversed, amountMicros: 1 }, taken), 'conflict');
  });

  it('rejects whatever is said of a sandbox click', () => {
    assert.equal(judge({ sub: subOf({ createdMs, serial: 1, mode: 'test' }) }), 'sandbox');
  });

  it('rejects a payout for a click nobody knows', () => {
    assert.equal(judge({}, unclicked), 'click_unknown');
  });

  it('takes the word of a click_id for a click that was not counted, if its offer was shown and it came within 24 hours', () => {
    const click = (ms: number) => ({ click: { clickedMs: ms, valueMicros: 1 } });
    assert.equal(judge(click(clickedMs), unclicked), 'accepted');
    assert.equal(judge(click(clickedMs), { ...unclicked, offerShown: false }), 'click_unknown');
    assert.equal(judge(click(createdMs + bounds.clickAttributionMs), unclicked), 'accepted');
    assert.equal(judge(click(createdMs + bounds.clickAttributionMs + 1), unclicked), 'click_late');
  });

  it('accepts a payout for a click that a clock set back put ahead of its session', () => {
    const early = createdMs - 2_000;
    assert.equal(judge({}, { ...clicked, clickedMs: early }), 'accepted');
    assert.equal(judge({ click: { clickedMs: early, valueMicros: 1 } }, unclicked), 'accepted');
  });

  it('reckons from the click that counted, not from a repeat the click_id is of', () => {
    const click = { clickedMs: clickedMs + 5 * hourMs, valueMicros: 1 };
    assert.equal(judge({ click, occurredMs: clickedMs }), 'accepted');
    assert.equal(judge({ click }, {}, clickedMs + 90 * dayMs + 1), 'too_late');
  });

  it('takes a row from the moment of the click, by a clock that may be behind ours, until 90 days after it', () => {
    assert.equal(judge({ occurredMs: clickedMs }), 'accepted');
    assert.equal(judge({ occurredMs: clickedMs - skewMs }), 'accepted');
    assert.equal(judge({ occurredMs: clickedMs - skewMs - 1 }), 'before_click');
    assert.equal(judge({}, {}, clickedMs + 90 * dayMs), 'accepted');
    assert.equal(judge({}, {}, clickedMs + 90 * dayMs + 1), 'too_late');
    assert.equal(judge(reversed, paid, clickedMs + 90 * dayMs + 1), 'too_late');
  });

  it('rejects what is said to happen later, by more than a clock may be ahead of ours', () => {
    assert.equal(judge({ occurredMs: nowMs + skewMs }), 'accepted');
    assert.equal(judge({ occurredMs: nowMs + skewMs + 1 }), 'in_future');
  });

  it('lets a session earn up to the bound and no more', () => {
    const sessionRevenueMicros = bounds.confirmedRevenueUsdMax * 1_000_000 - funded.amountMicros;
    assert.equal(judge({}, { sessionRevenueMicros }), 'accepted');
    assert.equal(judge({}, { sessionRevenueMicros: sessionRevenueMicros + 1 }), 'session_limit');
  });

  it('never brings a payout below zero or above its funding, in whatever order and however often rows come', () => {
    const row = fc.record({
      status: fc.constantFrom('funded' as const, 'reversed' as const),
      txid: fc.constantFrom('tx-1', 'tx-2'),
      amountMicros: fc.integer({ min: 1, max: 6 }),
      occurredMs: fc.constantFrom(occurredMs, occurredMs + 1),
    });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 30 }), (rows) => {
        const payouts = new Map<string, Payout>();
        const left = new Map<string, number>();
        const firsts = new Map<string, Confirmation>();
        for (const each of rows) {
          const confirmation = { ...funded, ...each };
          const { txid, status } = confirmation;
          const payout = payouts.get(txid) ?? null;
          const verdict = checkConfirmation(confirmation, { ...clicked, payout }, nowMs);
          const first = firsts.get(`${txid} ${status}`);
          if (first !== undefined) {
            const same = first.amountMicros === each.amountMicros && first.occurredMs === each.occurredMs;
            assert.equal(verdict, same ? 'repeated' : 'conflict');
          }
          if (verdict !== 'accepted') continue;
          firsts.set(`${txid} ${status}`, confirmation);
          payouts.set(txid, applyToPayout(confirmation, payout));
          left.set(txid, (left.get(txid) ?? 0) + revenueDeltaMicros(confirmation));
          for (const [id, micros] of left) {
            assert(micros >= 0 && micros <= payouts.get(id)!.funded.amountMicros);
          }
        }
      }),
    );
  });

  it('calls too late whatever is told of a session so old that every click on it would be', () => {
    const lastMs = createdMs + 91 * dayMs;
    const unknown = { shown: false, clickedMs: null };
    for (const click of [null, { clickedMs, valueMicros: 1 }]) {
      assert.equal(judge({ click }, unknown, lastMs), 'click_unknown');
      assert.equal(judge({ click }, unknown, lastMs + 1), 'too_late');
    }
  });
});
