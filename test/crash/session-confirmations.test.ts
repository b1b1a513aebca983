import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfirmationRow } from './confirmation-row.ts';
import { noFigures, type ToldFigures, tell } from './figures.ts';
import type { Link } from './offer-link.ts';
import { SessionRecord } from './session-record.ts';

const link: Link = { offerId: 'first', path: '/c?1', micros: 1_000_000 };
const created_at = '2026-06-09T10:00:00.000Z';

function viewed(): SessionRecord {
  const session = new SessionRecord({ sub_id: 'sub_1', created_at }, 'tag', 'live');
  session.viewed([link], 10);
  session.settleAll();
  return session;
}

function clicked(): SessionRecord {
  const session = viewed();
  session.clicked(link, 'durable', 20);
  return session;
}

function row(more: Partial<ConfirmationRow> = {}): ConfirmationRow {
  return {
    offerId: 'first',
    txid: 'tx-1',
    status: 'funded',
    amountMicros: 40_000_001,
    occurredMs: Date.parse(created_at) + 1,
    issued: null,
    isDoublyNamed: false,
    spoilt: null,
    ...more,
  };
}

const issued = { offerId: 'first', clickId: 'AVs1', micros: 1_000_000 };
const reversal = row({ status: 'reversed' });

function figures(clicks: number, confirmedMicros: number): ToldFigures {
  return tell({ ...noFigures, views: 1, clicks, attributedMicros: clicks * 1_000_000, confirmedMicros }, 1);
}

test('requires an acknowledged confirmation after a crash, with its exact amount in micro-dollars', () => {
  const session = clicked();
  assert.equal(session.confirmed(row()), 'accepted');
  session.settleAll();
  for (const micros of [0, 40_000_000, 40_000_002, 80_000_002]) {
    assert.throws(() => session.settle(figures(1, micros), 0), /may have/);
  }
  session.settle(figures(1, 40_000_001), 0);
  assert.equal(session.takeDoubt(), null);
  assert.equal(session.verdictOn(row()), 'repeated');
});

test('expects an unacknowledged confirmation at most once after a crash, and sends the row again', () => {
  for (const [found, booked, verdict] of [
    [figures(1, 0), 0, 'accepted'],
    [figures(1, 40_000_001), 1, 'repeated'],
  ] as const) {
    const session = clicked();
    session.confirmed(row());
    session.settle(found, 0);
    assert.deepEqual(session.takeDoubt(), { rows: [row()], booked: [booked] });
    assert.equal(session.takeDoubt(), null);
    assert.equal(session.confirmed(row()), verdict);
    session.settleAll();
    assert.deepEqual(tell(session.figures, 1), figures(1, 40_000_001));
  }
  const session = clicked();
  session.confirmed(row());
  assert.throws(() => session.settle(figures(1, 80_000_002), 0), /may have/);
});

test('cannot tell from the total whether a payout and its full reversal survived a crash', () => {
  const session = clicked();
  session.confirmed(row());
  session.confirmed(reversal);
  session.settle(figures(1, 0), 0);
  assert.deepEqual(session.takeDoubt(), { rows: [row(), reversal], booked: [0, 2] });
  assert.deepEqual([session.confirmed(row()), session.confirmed(reversal)], ['accepted', 'accepted']);
});

test('a confirmation with a click_id restores an unrecorded click; a crash that loses the confirmation loses the click', () => {
  const session = viewed();
  assert.equal(session.verdictOn(row()), 'click_unknown');
  assert.equal(session.confirmed(row({ issued })), 'accepted');
  assert.equal(session.clicked(link, 'durable', 20), false);
  assert.deepEqual(tell(session.figures, 1), figures(1, 40_000_001));
  session.settle(figures(0, 0), 0);
  assert.equal(session.verdictOn(row()), 'click_unknown');
  assert.deepEqual(session.takeDoubt()?.booked, [0]);
});

test('a click_id does not restore a click on an unshown offer; the outcome is unknown after a view without a response', () => {
  const unshown = row({ offerId: 'other', issued: { ...issued, offerId: 'other' } });
  const session = viewed();
  assert.equal(session.verdictOn(unshown), 'click_unknown');
  session.viewed([], Number.POSITIVE_INFINITY);
  session.settleAll();
  assert.equal(session.verdictOn(unshown), null);
});

test('rejected confirmation rows do not change the revenue', () => {
  const session = clicked();
  session.confirmed(row());
  const wanted = [
    [row({ amountMicros: 1 }), 'conflict'],
    [row({ occurredMs: Date.parse(created_at) + 2 }), 'conflict'],
    [row({ status: 'reversed', txid: 'tx-2' }), 'txid_unknown'],
    [row({ status: 'reversed', amountMicros: 40_000_002 }), 'exceeds_funded'],
    [row({ txid: 'tx-2', occurredMs: 0 }), 'before_click'],
    [row({ txid: 'tx-2', occurredMs: Date.now() + 60_000 }), 'in_future'],
    [row({ txid: 'tx-2', amountMicros: 99_960_000_000 }), 'session_limit'],
    [row({ offerId: 'other' }), 'click_unknown'],
    [row({ spoilt: { members: { amount: 0 }, reason: 'amount_invalid' } }), 'amount_invalid'],
  ] as const;
  for (const [sent, verdict] of wanted) assert.equal(session.confirmed(sent), verdict);
  session.settle(figures(1, 40_000_001), 0);
  assert.equal(session.takeDoubt()?.rows.length, 1);

  const sandbox = new SessionRecord({ sub_id: 'sub_2', created_at }, 'tag', 'test');
  assert.equal(sandbox.verdictOn(row()), 'sandbox');
});
