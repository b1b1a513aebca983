import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DrainTimer } from '../../src/server/lifecycle.ts';
import { ManualClock } from '../support/manual-clock.ts';

test('the deadline runs once the delay is over, whoever closes when', () => {
  const clock = new ManualClock();
  const drain = new DrainTimer(clock, { delayMs: 3_000, deadlineMs: 5_000 });
  clock.advance(60_000);
  drain.start();
  assert.deepEqual([drain.delayMs, drain.remainingMs], [3_000, 5_000]);
  clock.advance(3_000);
  assert.equal(drain.remainingMs, 5_000);
  clock.advance(4_000);
  assert.equal(drain.remainingMs, 1_000);
  clock.advance(4_000);
  assert.equal(drain.remainingMs, 0);
});

test('once it is given up nothing is waited for', () => {
  const drain = new DrainTimer(new ManualClock(), { delayMs: 3_000, deadlineMs: 5_000 });
  drain.start();
  drain.expire();
  assert.deepEqual([drain.delayMs, drain.remainingMs], [0, 0]);
});
