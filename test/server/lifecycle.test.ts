import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CleanupStack, DrainTimer, ServiceLifecycle } from '../../src/server/lifecycle.ts';
import { ManualClock } from '../support/manual-clock.ts';

test('the drain deadline starts after the shutdown delay', () => {
  const clock = new ManualClock();
  const drain = new DrainTimer(clock, { delayMs: 3_000, deadlineMs: 5_000 });
  clock.advance(60_000);
  drain.start();
  assert.deepEqual([drain.delayMs, drain.remainingMs], [3_000, 5_000]);
  clock.advance(3_000);
  assert.equal(drain.remainingMs, 5_000);
  clock.advance(4_000);
  assert.equal(drain.remainingMs, 1_000);
  clock.advance(4_000);
  assert.equal(drain.remainingMs, 0);
});

test('an expired drain has no delay and no remaining time', () => {
  const drain = new DrainTimer(new ManualClock(), { delayMs: 3_000, deadlineMs: 5_000 });
  drain.start();
  drain.expire();
  assert.deepEqual([drain.delayMs, drain.remainingMs], [0, 0]);
});

test('reports why the service is not ready, and runs the cleanup of the service once', async () => {
  const cleanup = new CleanupStack();
  let closed = 0;
  cleanup.defer(() => closed++);
  const journal = { healthy: true };
  const lifecycle = new ServiceLifecycle({
    clock: new ManualClock(),
    drain: { delayMs: 0, deadlineMs: 5_000 },
    cleanup,
    ledger: { healthy: true },
    journal,
    analytics: { healthy: true },
  });
  assert.deepEqual(lifecycle.notReadyReasons(), ['the service is starting']);
  lifecycle.markServing();
  assert.deepEqual(lifecycle.notReadyReasons(), []);
  journal.healthy = false;
  assert.deepEqual(lifecycle.notReadyReasons(), ['the journal cannot be written']);
  await Promise.all([lifecycle.stop(), lifecycle.stopNow()]);
  assert.deepEqual([lifecycle.notReadyReasons(), lifecycle.isStopping, closed], [['the service is stopping'], true, 1]);
});
