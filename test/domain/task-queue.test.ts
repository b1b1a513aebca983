import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SerialQueue } from '../../src/domain/async.ts';

test('runs one task at a time, in the order they came', async () => {
  const queue = new SerialQueue(10);
  const seen: string[] = [];
  const task = (name: string) => async () => {
    seen.push(`${name} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    seen.push(`${name} ends`);
    return name;
  };
  const results = await Promise.all(['a', 'b', 'c'].map((name) => queue.run(task(name))));
  assert.deepEqual(results, ['a', 'b', 'c']);
  assert.deepEqual(seen, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

test('goes on after a task that failed, which only its asker hears of', async () => {
  const queue = new SerialQueue(10);
  const failed = queue.run(() => Promise.reject(new Error('no')));
  const next = queue.run(async () => 'yes');
  await assert.rejects(failed!, /no/);
  assert.equal(await next, 'yes');
});

test('runs no task that was cancelled before its turn, and any that was cancelled after', async () => {
  const queue = new SerialQueue(10);
  const signal = { ended: false };
  const { promise, resolve } = Promise.withResolvers<string>();
  const running = queue.run(() => promise, signal);
  const cancelled = queue.run(() => assert.fail('it was cancelled'), signal);
  const next = queue.run(async () => 'next', { ended: false });
  await new Promise(setImmediate);
  signal.ended = true;
  resolve('first');
  assert.deepEqual(await Promise.all([running, cancelled, next]), ['first', null, 'next']);
});

test('takes no more than may wait, and takes them again once there is room', async () => {
  const queue = new SerialQueue(2);
  const { promise, resolve } = Promise.withResolvers<void>();
  const taken = [1, 2, 3].map(() => queue.run(() => promise));
  assert(taken.every((one) => one !== null));
  assert.equal(
    queue.run(() => promise),
    null,
  );
  resolve();
  await Promise.all(taken);
  assert.equal(await queue.run(async () => 4), 4);
});
