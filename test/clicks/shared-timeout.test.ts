import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { SharedTimeout } from '../../src/clicks/shared-timeout.ts';

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
  it('settles as a promise that settles in time does', async (t) => {
    const { timeout } = setUp(t);
    assert.equal(await timeout.wait(Promise.resolve('done')), 'done');
    await assert.rejects(timeout.wait(Promise.reject(new Error('broken'))), /broken/);
  });

  it('waits at most one tick longer than the timeout, with one timer for the calls of a tick', async (t) => {
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

  it('handles a rejection after the timeout', async (t) => {
    const { timeout, pass } = setUp(t);
    const { promise, reject } = Promise.withResolvers<void>();
    const waited = timeout.wait(promise);
    pass(520);
    assert.equal(await waited, 'timeout');
    reject(new Error('too late')); // The test runner fails this test if the rejection is unhandled.
    await new Promise((resolve) => setImmediate(resolve));
  });

  it('clears all timers on close, accepts a second close, and still settles with the promise', async () => {
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
