import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anySeed, runCrashes } from './crash-run.ts';

test('whatever a server answered before a kill -9 is there once after a restart, and nothing else', async (t) => {
  const seed = anySeed();
  t.diagnostic(`seed ${seed}`);
  const tally = await runCrashes({ cycles: 3, seed });
  assert.equal(tally.count('kills under load'), 3);
});
