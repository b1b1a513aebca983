import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoizeAsync, SerialQueue } from '../../src/domain/async.ts';

test('memoizeAsync shares one result, also while it is pending', async () => {
  let calls = 0;
  const load = memoizeAsync(async () => ({ calls: ++calls }));
  const [one, other] = await Promise.all([load(), load()]);
  assert.equal(one, other);
  assert.equal(await load(), one);
  assert.equal(calls, 1);
});

test('memoizeAsync calls the function again after a failure', async () => {
  let calls = 0;
  const load = memoizeAsync(async () => {
    if (++calls === 1) throw new Error('not yet');
    return calls;
  });
  await Promise.all([assert.rejects(load(), /not yet/), assert.rejects(load(), /not yet/)]);
  assert.equal(await load(), 2);
});

test('SerialQueue runs one task at a time, in order', async () => {
  const queue = new SerialQueue(10);
  const events: string[] = [];
  const task = (name: string) => async () => {
    events.push(`${name} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    events.push(`${name} ends`);
    return name;
  };
  const results = await Promise.all(['a', 'b', 'c'].map((name) => queue.run(task(name))));
  assert.deepEqual(results, ['a', 'b', 'c']);
  assert.deepEqual(events, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

test('SerialQueue reports a failure to its caller only', async () => {
  const queue = new SerialQueue(10);
  const failed = queue.run(() => Promise.reject(new Error('no')));
  const next = queue.run(async () => 'yes');
  await assert.rejects(failed!, /no/);
  assert.equal(await next, 'yes');
});

test('SerialQueue skips a task that was cancelled before it started', async () => {
  const queue = new SerialQueue(10);
  const signal = { ended: false };
  const { promise, resolve } = Promise.withResolvers<string>();
  const running = queue.run(() => promise, signal);
  const cancelled = queue.run(() => assert.fail('the task was cancelled'), signal);
  const next = queue.run(async () => 'next', { ended: false });
  await new Promise(setImmediate);
  signal.ended = true;
  resolve('first');
  assert.deepEqual(await Promise.all([running, cancelled, next]), ['first', null, 'next']);
});

test('SerialQueue limits the number of waiting tasks', async () => {
  const queue = new SerialQueue(2);
  const { promise, resolve } = Promise.withResolvers<void>();
  const accepted = [1, 2, 3].map(() => queue.run(() => promise));
  assert(accepted.every((result) => result !== null));
  assert.equal(
    queue.run(() => promise),
    null,
  );
  resolve();
  await Promise.all(accepted);
  assert.equal(await queue.run(async () => 4), 4);
});
