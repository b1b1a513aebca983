import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DailyCounter } from '../../src/auth/key-usage.ts';

const today = 22_000;

test('counts each day separately', () => {
  const counter = new DailyCounter();
  counter.reserve(today);
  counter.reserve(today);
  counter.reserve(today + 1);
  assert.deepEqual([counter.count(today), counter.count(today + 1), counter.count(today + 2)], [2, 1, 0]);
});

test('releases a reservation once', () => {
  const counter = new DailyCounter();
  counter.reserve(today);
  const reservation = counter.reserve(today);
  reservation.release();
  reservation.release();
  assert.equal(counter.count(today), 1);
});

test('does not release a reservation of a forgotten day', () => {
  const counter = new DailyCounter();
  const reservation = counter.reserve(today);
  counter.reserve(today + 2);
  reservation.release();
  assert.equal(counter.count(today + 2), 1);
});

test('keeps the count of the previous day', () => {
  const counter = new DailyCounter();
  counter.reserve(today);
  counter.reserve(today + 1);
  counter.reserve(today);
  assert.equal(counter.count(today), 2);
});
