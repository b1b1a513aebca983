import assert from 'node:assert/strict';
import { describe, it, type TestContext, test } from 'node:test';
import { memoizeAsync, SerialQueue, SharedTimeout } from '../../src/domain/async.ts';

test('concurrent and later calls of a function from memoizeAsync share one result', async () => {
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

const never = (): Promise<string> => new Promise(() => {});

/** Creates a timeout of 500 ms with ticks of 20 ms. The test controls the time. */
function setUp(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const timeout = new SharedTimeout(500, 20);
  t.after(() => timeout.close());
  return { timeout, pass: (ms: number) => t.mock.timers.tick(ms) };
}

/** Returns the value of a promise, or `waiting` if the promise is pending. */
async function stateOf<Value>(promise: Promise<Value>): Promise<Value | 'waiting'> {
  // Waits for the next turn of the event loop, because a race settles a few microtasks after its promise.
  await new Promise((resolve) => setImmediate(resolve));
  return Promise.race([promise, Promise.resolve('waiting' as const)]);
}

describe('SharedTimeout', () => {
  it('returns the result or the error of a promise that settles before the timeout', async (t) => {
    const { timeout } = setUp(t);
    assert.equal(await timeout.wait(Promise.resolve('done')), 'done');
    await assert.rejects(timeout.wait(Promise.reject(new Error('broken'))), /broken/);
  });

  it('a call times out at most one tick late, because all calls in one tick share a timer', async (t) => {
    const { timeout, pass } = setUp(t);
    const first = timeout.wait(never());
    pass(19);
    const joined = timeout.wait(never());
    pass(1);
    const later = timeout.wait(never());
    pass(479);
    assert.deepEqual(await Promise.all([first, joined].map(stateOf)), ['waiting', 'waiting']);
    pass(21);
    assert.deepEqual(await Promise.all([first, joined, later].map(stateOf)), ['timeout', 'timeout', 'waiting']);
    pass(20);
    assert.equal(await stateOf(later), 'timeout');
  });

  it('a promise that rejects after the timeout causes no unhandled rejection', async (t) => {
    const { timeout, pass } = setUp(t);
    const { promise, reject } = Promise.withResolvers<void>();
    const waited = timeout.wait(promise);
    pass(520);
    assert.equal(await waited, 'timeout');
    reject(new Error('too late')); // The test runner fails this test if the rejection is unhandled.
    await new Promise((resolve) => setImmediate(resolve));
  });

  it('SharedTimeout.close stops all timers, and a pending call of wait still returns the result of its promise', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    const timeout = new SharedTimeout(60_000, 1_000);
    const { promise, resolve } = Promise.withResolvers<string>();
    const waited = timeout.wait(promise);
    assert(timers() > before);
    timeout.close();
    timeout.close();
    assert.equal(timers(), before);
    resolve('done');
    assert.equal(await waited, 'done');
  });
});
