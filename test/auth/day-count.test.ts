import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DailyCounter } from '../../src/auth/key-usage.ts';

const today = 22_000;

test('days are counted apart', () => {
  const sessions = new DailyCounter();
  sessions.reserve(today);
  sessions.reserve(today);
  sessions.reserve(today + 1);
  assert.deepEqual([sessions.count(today), sessions.count(today + 1), sessions.count(today + 2)], [2, 1, 0]);
});

test('a place is given back once, however often that is asked', () => {
  const sessions = new DailyCounter();
  sessions.reserve(today);
  const slot = sessions.reserve(today);
  slot.release();
  slot.release();
  assert.equal(sessions.count(today), 1);
});

test('a place is given back to the day it was taken from, also after midnight', () => {
  const sessions = new DailyCounter();
  const slot = sessions.reserve(today);
  sessions.reserve(today + 1);
  slot.release();
  assert.deepEqual([sessions.count(today), sessions.count(today + 1)], [0, 1]);
});

test('a place of a day long gone takes nothing from a later one', () => {
  const sessions = new DailyCounter();
  const slot = sessions.reserve(today);
  sessions.reserve(today + 2);
  slot.release();
  assert.equal(sessions.count(today + 2), 1);
});

test('a wall clock set back over midnight finds the count it left', () => {
  const sessions = new DailyCounter();
  sessions.reserve(today);
  sessions.reserve(today + 1);
  sessions.reserve(today);
  assert.equal(sessions.count(today), 2);
});

test('a restored count is what the day goes on from', () => {
  const sessions = new DailyCounter();
  sessions.restore(today, 41);
  sessions.reserve(today);
  assert.equal(sessions.count(today), 42);
});
