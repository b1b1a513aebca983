import assert from 'node:assert/strict';
import { test } from 'node:test';
import { msUntilDayFits } from '../../../bench/limits/limits-part.ts';

const midnight = Date.UTC(2026, 0, 2);

test('starts a load immediately if the load ends before UTC midnight', () => {
  assert.equal(msUntilDayFits(60_000, midnight), 0);
  assert.equal(msUntilDayFits(60_000, midnight - 60_000), 0);
});

test('delays a load that would run over midnight until after midnight', () => {
  assert.equal(msUntilDayFits(60_000, midnight - 59_999), 59_999);
  assert.equal(msUntilDayFits(60_000, midnight - 1), 1);
});
