import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Drain } from '../../src/service/drain.ts';
import { ManualClock } from '../support/manual-clock.ts';

test('the deadline runs once the delay is over, whoever closes when', () => {
  const clock = new ManualClock();
  const drain = new Drain(clock, { delayMs: 3_000, deadlineMs: 5_000 });
  clock.advance(60_000);
  drain.begin();
  assert.deepEqual([drain.delayMs, drain.graceMs], [3_000, 5_000]);
  clock.advance(3_000);
  assert.equal(drain.graceMs, 5_000);
  clock.advance(4_000);
  assert.equal(drain.graceMs, 1_000);
  clock.advance(4_000);
  assert.equal(drain.graceMs, 0);
});

test('once it is given up nothing is waited for', () => {
  const drain = new Drain(new ManualClock(), { delayMs: 3_000, deadlineMs: 5_000 });
  drain.begin();
  drain.giveUp();
  assert.deepEqual([drain.delayMs, drain.graceMs], [0, 0]);
});
