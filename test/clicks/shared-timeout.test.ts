import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { SharedTimeout } from '../../src/clicks/shared-timeout.ts';

const never = (): Promise<string> => new Promise(() => {});

/** Creates a timeout of 500 ms with ticks of 20 ms. The test controls the time. */
function setUp(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const patience = new SharedTimeout(500, 20);
  t.after(() => patience.close());
  return { patience, pass: (ms: number) => t.mock.timers.tick(ms) };
}

/** Returns the value of a promise, or `waiting` if the promise is pending. */
async function stateOf<Value>(promise: Promise<Value>): Promise<Value | 'waiting'> {
  // Waits for the next turn of the event loop, because a race settles a few microtasks after its promise.
  await new Promise((resolve) => setImmediate(resolve));
  return Promise.race([promise, Promise.resolve('waiting' as const)]);
}

describe('SharedTimeout', () => {
  it('resolves with the value of a promise that resolves in time', async (t) => {
    const { patience } = setUp(t);
    assert.equal(await patience.wait(Promise.resolve('done')), 'done');
  });

  it('rejects with the error of a promise that rejects in time', async (t) => {
    const { patience } = setUp(t);
    await assert.rejects(patience.wait(Promise.reject(new Error('broken'))), /broken/);
  });

  it('waits at most one tick longer than the timeout', async (t) => {
    const { patience, pass } = setUp(t);
    const waited = patience.wait(never());
    pass(499);
    assert.equal(await stateOf(waited), 'waiting');
    pass(21);
    assert.equal(await stateOf(waited), 'timeout');
  });

  it('applies the same timeout to calls in the same tick', async (t) => {
    const { patience, pass } = setUp(t);
    patience.wait(never());
    pass(19);
    const joined = patience.wait(never());
    pass(499);
    assert.equal(await stateOf(joined), 'waiting');
    pass(21);
    assert.equal(await stateOf(joined), 'timeout');
  });

  it('starts a new timer for a call after the tick', async (t) => {
    const { patience, pass } = setUp(t);
    const first = patience.wait(never());
    pass(400);
    const second = patience.wait(never());
    pass(120);
    assert.equal(await stateOf(first), 'timeout');
    assert.equal(await stateOf(second), 'waiting');
    pass(400);
    assert.equal(await stateOf(second), 'timeout');
  });

  it('handles a rejection after the timeout', async (t) => {
    const { patience, pass } = setUp(t);
    const { promise, reject } = Promise.withResolvers<void>();
    const waited = patience.wait(promise);
    pass(520);
    assert.equal(await waited, 'timeout');
    reject(new Error('nobody waits any more')); // The test runner fails this test if the rejection is unhandled.
    await new Promise((resolve) => setImmediate(resolve));
  });

  it('clears all timers on close, and accepts a second close', () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    const patience = new SharedTimeout(60_000, 1_000);
    patience.wait(never());
    assert(timers() > before);
    patience.close();
    patience.close();
    assert.equal(timers(), before);
  });

  it('still settles with the promise after close', async () => {
    const patience = new SharedTimeout(60_000, 1_000);
    const { promise, resolve } = Promise.withResolvers<string>();
    const waited = patience.wait(promise);
    patience.close();
    resolve('done');
    assert.equal(await waited, 'done');
  });
});
