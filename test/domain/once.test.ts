import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoizeAsync } from '../../src/domain/async.ts';

test('what is made once is the same for all who ask, also while it is being made', async () => {
  let times = 0;
  const ask = memoizeAsync(async () => ({ times: ++times }));
  const [one, other] = await Promise.all([ask(), ask()]);
  assert.equal(one, other);
  assert.equal(await ask(), one);
  assert.equal(times, 1);
});

test('a failure is told to those who waited for it, and forgotten', async () => {
  let times = 0;
  const ask = memoizeAsync(async () => {
    if (++times === 1) throw new Error('not yet');
    return times;
  });
  await Promise.all([assert.rejects(ask(), /not yet/), assert.rejects(ask(), /not yet/)]);
  assert.equal(await ask(), 2);
});
