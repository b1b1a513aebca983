import assert from 'node:assert/strict';
import { test } from 'node:test';
import { msUntilDayFits } from '../../../bench/limits/limits-part.ts';

const midnight = Date.UTC(2026, 0, 2);

test('what fits into the rest of the UTC day begins at once', () => {
  assert.equal(msUntilDayFits(60_000, midnight), 0);
  assert.equal(msUntilDayFits(60_000, midnight - 60_000), 0);
});

test('what would run over midnight waits for it', () => {
  assert.equal(msUntilDayFits(60_000, midnight - 59_999), 59_999);
  assert.equal(msUntilDayFits(60_000, midnight - 1), 1);
});
