import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noFigures, type ToldFigures, tell } from './figures.ts';
import type { Link } from './offer-link.ts';
import { SessionRecord } from './session-record.ts';

const first: Link = { offerId: 'first', path: '/c?1', micros: 1_000_000 };
const second: Link = { offerId: 'second', path: '/c?2', micros: 2_500_000 };
const created_at = '2026-06-09T10:00:00.000Z';
const unanswered = Number.POSITIVE_INFINITY;

function viewed(...views: readonly (readonly [links: readonly Link[], answeredAt: number])[]): SessionRecord {
  const session = new SessionRecord({ sub_id: 'sub_1', created_at }, 'tag', 'live');
  for (const [links, answeredAt] of views) session.viewed(links, answeredAt);
  return session;
}

function figures(views: number, clicks = 0, attributedMicros = 0, confirmedMicros = 0): ToldFigures {
  return tell({ ...noFigures, views, clicks, attributedMicros, confirmedMicros }, 1);
}

const figuresOf = (session: SessionRecord): ToldFigures => tell(session.figures, 1);

test('accepts that a crash loses an acknowledged view and its click links', () => {
  const session = viewed([[first], 10], [[first, second], 20]);
  session.settle(figures(1), 0);
  assert.deepEqual(session.links, [first]);
  assert.deepEqual(figuresOf(session), figures(1));
  assert.equal(session.lostLink, second);
});

test('does not report a click link as lost if a view without a response may contain the same link', () => {
  const session = viewed([[], unanswered]);
  session.settle(figures(1), 0);
  session.viewed([first], 10);
  session.settle(figures(1), 0);
  assert.deepEqual([session.links, session.lostLink], [[], null]);
});

test('requires a view after a crash if a later durable change was acknowledged', () => {
  const session = viewed([[first], 10], [[second], 20]);
  assert.throws(() => session.settle(figures(0), 15), /may have/);
  session.settle(figures(1), 15);
});

test('rejects more views than were requested', () => {
  assert.throws(() => viewed([[first], 10]).settle(figures(2), 0), /may have/);
});

test('requires an acknowledged click and its earlier view after a crash', () => {
  const session = viewed([[first], 10]);
  session.clicked(first, 'durable', 20);
  for (const less of [figures(0), figures(1), figures(0, 1, 1_000_000)]) {
    assert.throws(() => session.settle(less, 0), /may have/);
  }
  session.settle(figures(1, 1, 1_000_000), 0);
});

test('accepts an unacknowledged click with its exact value, or no click', () => {
  for (const found of [figures(1), figures(1, 1, 2_500_000)]) {
    const session = viewed([[second], 10]);
    session.clicked(second, 'lost', unanswered);
    session.settle(found, 15);
    assert.deepEqual(figuresOf(session), found);
  }
  const session = viewed([[second], 10]);
  session.clicked(second, 'lost', unanswered);
  assert.throws(() => session.settle(figures(1, 1, 1_000_000), 0), /may have/);
});

test('counts a repeated click once, and again after a crash lost the first click', () => {
  const session = viewed([[first], 10]);
  assert.equal(session.clicked(first, 'lost', unanswered), true);
  assert.equal(session.clicked(first, 'durable', 20), false);
  session.settle(figures(1), 15);
  assert.equal(session.clicked(first, 'durable', 30), true);
  assert.deepEqual(figuresOf(session), figures(1, 1, 1_000_000));
});

test('accepts either outcome for a redirect that may have been sent before the click was durable', () => {
  for (const found of [figures(1), figures(1, 1, 1_000_000)]) {
    const session = viewed([[first], 10]);
    session.clicked(first, 'late', 20);
    session.settle(found, 15);
    assert.deepEqual(figuresOf(session), found);
  }
});
