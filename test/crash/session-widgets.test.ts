import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfirmationRow } from './confirmation-row.ts';
import { noFigures, type ToldFigures, tell } from './figures.ts';
import type { Link } from './offer-link.ts';
import { SessionRecord } from './session-record.ts';
import type { WidgetReport } from './widget-record.ts';

const first: Link = { offerId: 'first', path: '/c?1', micros: 1_000_000 };
const second: Link = { offerId: 'second', path: '/c?2', micros: 2_500_000 };
const unanswered = Number.POSITIVE_INFINITY;
const load = '00000000000000aa';

function session(): SessionRecord {
  return new SessionRecord({ sub_id: 'sub_1', created_at: '2026-06-09T10:00:00.000Z' }, 'tag', 'live');
}

function report(...ids: string[]): WidgetReport {
  return { load, events: ids.map((id) => ({ id, type: 'widget_loaded', offerId: null })) };
}

const figures = (views: number, events = 0): ToldFigures =>
  tell({ ...noFigures, views, widgetEvents: [events, 0, 0, 0, 0, 0, 0] }, 1);

const figuresOf = (record: SessionRecord): ToldFigures => tell(record.figures, 1);

test('expects one view per widget load, also after a crash', () => {
  const record = session();
  assert.equal(record.shown(load, [first], 10), true);
  assert.equal(record.shown(load, [second], 20), false);
  record.settle(figures(1), 0);
  assert.equal(record.shown(load, [first], 30), false);
  assert.deepEqual(figuresOf(record), figures(1));
  assert.throws(() => record.settle(figures(2), 0), /may have/);
});

test('expects a new view of a widget load whose view was lost in a crash', () => {
  for (const answeredAt of [10, unanswered]) {
    const record = session();
    record.shown(load, answeredAt === unanswered ? [] : [first], answeredAt);
    record.settle(figures(0), 0);
    assert.equal(record.shown(load, [first], 30), true);
    assert.equal(record.shown(load, [first], 40), false);
    assert.deepEqual(figuresOf(record), figures(1));
  }
});

test('expects a separate view for each widget load', () => {
  const record = session();
  record.shown(load, [first], 10);
  assert.equal(record.shown('00000000000000bb', [first], 20), true);
  record.settle(figures(2), 15);
});

test('does not expect offers that were shown after the recorded view to survive a crash', () => {
  const record = session();
  record.shown(load, [first], 10);
  record.shown(load, [second], 20);
  record.settle(figures(1), 0);
  assert.deepEqual([record.links, record.lostLink], [[first], null]);
  const row: ConfirmationRow = {
    offerId: second.offerId,
    txid: 'tx-1',
    status: 'funded',
    amountMicros: 1_000_000,
    occurredMs: record.createdMs,
    issued: { offerId: second.offerId, clickId: 'AVs1', micros: second.micros },
    isDoublyNamed: false,
    spoilt: null,
  };
  assert.equal(record.verdictOn(row), null);
  record.shown(load, [second], 30);
  assert.equal(record.verdictOn(row), 'accepted');
});

test('expects offers shown after the view to survive a crash if a later durable change was acknowledged', () => {
  const record = session();
  record.shown(load, [first], 10);
  record.shown(load, [second], 20);
  record.settle(figures(1), 25);
  assert.deepEqual(record.links, [first, second]);
});

test('counts a repeated widget event once, and requires acknowledged events after a crash', () => {
  const record = session();
  assert.equal(record.reported(report('a', 'b', 'a')).length, 2);
  record.settleAll();
  assert.equal(record.reported(report('b', 'c')).length, 1);
  record.settleAll();
  assert.equal(record.reported(report('a', 'c')).length, 0);
  for (const wrong of [2, 4]) assert.throws(() => record.settle(figures(0, wrong), 0), /may have/);
  record.settle(figures(0, 3), 0);
  assert.deepEqual(record.takeReportsInDoubt(), []);
});

test('an unacknowledged event report survives a crash completely or not at all, and counts once when repeated', () => {
  for (const found of [1, 3]) {
    const record = session();
    record.reported(report('a'));
    record.settleAll();
    const doubted = report('a', 'b', 'c');
    record.reported(doubted);
    record.settle(figures(0, found), 0);
    const [doubt] = record.takeReportsInDoubt();
    assert.deepEqual([doubt?.report, doubt?.counted.length], [doubted, 2]);
    assert.equal(record.reported(doubted).length, 3 - found);
    assert.deepEqual(figuresOf(record), figures(0, 3));
  }
  const torn = session();
  torn.reported(report('a', 'b'));
  assert.throws(() => torn.settle(figures(0, 1), 0), /may have/);
});
