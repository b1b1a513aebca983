import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import type { Confirmation } from '../../src/confirmations/confirmation.ts';
import {
  applyConfirmationToPayout,
  checkConfirmation,
  type PayoutState,
} from '../../src/confirmations/confirmation.ts';
import { subIdBytes } from '../support/ledger-records.ts';

const { confirmationClockSkewMs: skewMs } = bounds;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const createdMs = Date.UTC(2026, 4, 20, 12);
const clickedMs = createdMs + hourMs;
const occurredMs = clickedMs + 20 * dayMs;
const nowMs = occurredMs + dayMs;
const sub = subIdBytes({ createdMs, serial: 1 });

const funded: Confirmation = {
  status: 'funded',
  sub,
  offerId: 'an-offer',
  txid: 'tx-1',
  amountMicros: 40_000_000,
  occurredMs,
  click: null,
  reason: null,
  isPayoutFlat: false,
};
const reversed: Confirmation = { ...funded, status: 'reversed', occurredMs: occurredMs + hourMs };
const clicked: PayoutState = {
  offerShown: true,
  clickedMs,
  sessionRevenueMicros: 0,
  clickRevenueMicros: null,
  clickPayoutMicros: null,
  isFunded: false,
  payout: null,
  clickReversal: null,
};
const withPayout: PayoutState = {
  ...clicked,
  sessionRevenueMicros: 40_000_000,
  isFunded: true,
  payout: { funded: { amountMicros: 40_000_000, occurredMs }, reversed: null },
};
const withoutClick: PayoutState = { ...clicked, clickedMs: null };

const withReversal: PayoutState = { ...withPayout, payout: applyConfirmationToPayout(reversed, withPayout.payout) };
/** A click that confirmed 40 USD itself, and a reversal of this revenue. */
const confirmedClick: PayoutState = { ...clicked, sessionRevenueMicros: 40_000_000, clickRevenueMicros: 40_000_000 };
const takenBack: Confirmation = { ...reversed, reason: 'bot' };
const afterTakingBack: PayoutState = {
  ...confirmedClick,
  clickRevenueMicros: 0,
  clickReversal: { amountMicros: 40_000_000, occurredMs: reversed.occurredMs, reason: 'bot' },
};
const clickAt = (ms: number, payoutMicros: number | null = null) => ({
  click: { clickedMs: ms, valueMicros: 1, payoutMicros },
});
/** A payout in a vertical with flat payouts. */
const flat: Partial<Confirmation> = { isPayoutFlat: true };
const late = clickedMs + bounds.confirmationWindowMs + 1;
const revenueMax = bounds.confirmedRevenueUsdMax * 1_000_000 - funded.amountMicros;
const unknown: PayoutState = { ...clicked, offerShown: false, clickedMs: null };
const windowEndMs = createdMs + 91 * dayMs;

type Case = readonly [
  name: string,
  expected: string,
  confirmation: Partial<Confirmation>,
  state?: Partial<PayoutState>,
  now?: number,
];
const cases: readonly Case[] = [
  ['a payout for a counted click', 'accepted', {}],
  ['a partial reversal', 'accepted', { ...reversed, amountMicros: 1 }, withPayout],
  ['a full reversal', 'accepted', reversed, withPayout],
  ['a reversal above the payout', 'exceeds_funded', { ...reversed, amountMicros: 40_000_001 }, withPayout],
  ['a reversal without a payout', 'txid_unknown', reversed],
  ['a repeated row, also after the deadline', 'repeated', {}, withPayout, nowMs + 400 * dayMs],
  ['a repeated reversal', 'repeated', reversed, withReversal],
  ['a repeated payout after its reversal', 'repeated', {}, withReversal],
  ['another amount of a known payout', 'conflict', { amountMicros: 40_000_001 }, withPayout],
  ['another time of a known payout', 'conflict', { occurredMs: occurredMs + 1 }, withPayout],
  ['another amount of a known reversal', 'conflict', { ...reversed, amountMicros: 1 }, withReversal],
  ['a payout for a click that confirmed its own revenue', 'funded_not_accepted', {}, confirmedClick],
  ['a reversal of all revenue of a click', 'accepted', takenBack, confirmedClick],
  [
    'a reversal above the revenue of a click',
    'exceeds_booked',
    { ...takenBack, amountMicros: 40_000_001 },
    confirmedClick,
  ],
  [
    'a reversal after a full reversal',
    'exceeds_booked',
    { ...takenBack, txid: 'tx-2' },
    { ...afterTakingBack, clickReversal: null },
  ],
  ['a repeated reversal of a click', 'repeated', takenBack, afterTakingBack, late],
  ['another amount of a known reversal of a click', 'conflict', { ...takenBack, amountMicros: 1 }, afterTakingBack],
  ['another time of a known reversal of a click', 'conflict', { ...takenBack, occurredMs }, afterTakingBack],
  ['another reason of a known reversal of a click', 'conflict', { ...takenBack, reason: 'other' }, afterTakingBack],
  ['a reversal with a reason of a click that booked nothing', 'click_not_booked', takenBack],
  ['a reversal with a reason of a lost click', 'click_unknown', { ...takenBack, ...clickAt(clickedMs) }, withoutClick],
  ['a reversal without a reason of a click that confirmed its own revenue', 'txid_unknown', reversed, confirmedClick],
  ['a late reversal of a click', 'too_late', takenBack, confirmedClick, late],
  ['a reversal before the click', 'before_click', { ...takenBack, occurredMs: clickedMs - skewMs - 1 }, confirmedClick],
  ['a sandbox click', 'sandbox', { sub: subIdBytes({ createdMs, serial: 1, mode: 'test' }) }],
  ['an unknown click', 'click_unknown', {}, withoutClick],
  ['a click from a click_id', 'accepted', clickAt(clickedMs), withoutClick],
  ['a click from a click_id of an unshown offer', 'click_unknown', clickAt(clickedMs), unknown],
  ['a click after 24 hours', 'accepted', clickAt(createdMs + bounds.clickAttributionMs), withoutClick],
  ['a click after more than 24 hours', 'click_late', clickAt(createdMs + bounds.clickAttributionMs + 1), withoutClick],
  ['a click before its session, by a clock set back', 'accepted', {}, { ...clicked, clickedMs: createdMs - 2_000 }],
  ['a click_id before its session, by a clock set back', 'accepted', clickAt(createdMs - 2_000), withoutClick],
  // The time limit depends on the time of the counted click, not on the time in the click_id of a repeated click.
  ['the click_id of a repeated click', 'accepted', { ...clickAt(clickedMs + 5 * hourMs), occurredMs: clickedMs }],
  ['the late click_id of a repeated click', 'too_late', clickAt(clickedMs + 5 * hourMs), {}, late],
  ['a payout at the time of the click', 'accepted', { occurredMs: clickedMs }],
  ['a payout before the click, within the clock skew', 'accepted', { occurredMs: clickedMs - skewMs }],
  ['a payout before the click', 'before_click', { occurredMs: clickedMs - skewMs - 1 }],
  ['a payout 90 days after the click', 'accepted', {}, {}, clickedMs + 90 * dayMs],
  ['a payout more than 90 days after the click', 'too_late', {}, {}, clickedMs + 90 * dayMs + 1],
  ['a reversal more than 90 days after the click', 'too_late', reversed, withPayout, late],
  ['a payout in the future, within the clock skew', 'accepted', { occurredMs: nowMs + skewMs }],
  ['a payout in the future', 'in_future', { occurredMs: nowMs + skewMs + 1 }],
  ['the maximum revenue of a session', 'accepted', {}, { sessionRevenueMicros: revenueMax }],
  ['more than the maximum revenue of a session', 'session_limit', {}, { sessionRevenueMicros: revenueMax + 1 }],
  ['the flat payout of a click', 'accepted', flat, { clickPayoutMicros: 40_000_000 }],
  ['less than the flat payout of a click', 'amount_not_flat', flat, { clickPayoutMicros: 40_000_001 }],
  ['more than the flat payout of a click', 'amount_not_flat', flat, { clickPayoutMicros: 39_999_999 }],
  ['a payout of an offer with a flat payout of 0', 'amount_not_flat', flat, { clickPayoutMicros: 0 }],
  ['a second flat payout', 'already_funded', flat, { clickPayoutMicros: 40_000_000, isFunded: true }],
  ['a second payout of another amount', 'already_funded', flat, { clickPayoutMicros: 1, isFunded: true }],
  ['a repeated flat payout', 'repeated', flat, { ...withPayout, clickPayoutMicros: 40_000_000 }],
  ['a changed flat payout', 'conflict', { ...flat, amountMicros: 1 }, { ...withPayout, clickPayoutMicros: 40_000_000 }],
  ['a flat payout after its reversal', 'already_funded', { ...flat, txid: 'tx-2' }, { ...withReversal, payout: null }],
  [
    'a reversal of a part of a flat payout',
    'accepted',
    { ...reversed, isPayoutFlat: true, amountMicros: 1 },
    withPayout,
  ],
  ['any amount for a click recorded without its flat payout', 'accepted', flat],
  ['a second payout for a click recorded without its flat payout', 'already_funded', flat, { isFunded: true }],
  ['the flat payout of a click_id', 'accepted', { ...flat, ...clickAt(clickedMs, 40_000_000) }, withoutClick],
  [
    'another amount than the flat payout of a click_id',
    'amount_not_flat',
    { ...flat, ...clickAt(clickedMs, 1) },
    withoutClick,
  ],
  ['any amount for a click_id without a flat payout', 'accepted', { ...flat, ...clickAt(clickedMs) }, withoutClick],
  // The payout of the counted click applies, not that in the click_id of a repeated click.
  [
    'the payout in the click_id of a repeated click',
    'amount_not_flat',
    { ...flat, ...clickAt(clickedMs, 40_000_000) },
    { clickPayoutMicros: 1 },
  ],
  [
    'any amount for a click recorded without a payout, by the click_id of a repeated click',
    'accepted',
    { ...flat, ...clickAt(clickedMs, 1) },
  ],
  // Records of an earlier release do not name the rule.
  [
    'another amount than the recorded flat payout, in an unmarked record',
    'amount_not_flat',
    {},
    { clickPayoutMicros: 1 },
  ],
  ['a second payout where payouts are not flat', 'accepted', {}, { isFunded: true }],
  ['a click of an unknown session', 'click_unknown', {}, unknown, windowEndMs],
  ['a click_id of an unknown session', 'click_unknown', clickAt(clickedMs), unknown, windowEndMs],
  ['a click of an unknown session that is too old', 'too_late', {}, unknown, windowEndMs + 1],
  ['a click_id of an unknown session that is too old', 'too_late', clickAt(clickedMs), unknown, windowEndMs + 1],
];

describe('checkConfirmation', () => {
  for (const [name, expected, confirmation, state, now = nowMs] of cases) {
    it(`checkConfirmation returns ${expected} for ${name}`, () => {
      assert.equal(checkConfirmation({ ...funded, ...confirmation }, { ...clicked, ...state }, now), expected);
    });
  }
});
