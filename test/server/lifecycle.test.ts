import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CleanupStack, ServiceLifecycle } from '../../src/server/lifecycle.ts';
import { ManualClock } from '../support/manual-clock.ts';

const healthy = { ledger: { healthy: true }, journal: { healthy: true }, analytics: { healthy: true } };

test('the drain timeout begins after the drain delay, and stopImmediately sets the timeout and the delay to 0', async () => {
  const clock = new ManualClock();
  const drain = { delayMs: 3_000, deadlineMs: 5_000 };
  const lifecycle = new ServiceLifecycle({ clock, drain, cleanup: new CleanupStack(), ...healthy });
  clock.advance(60_000);
  await lifecycle.stop();
  assert.deepEqual([lifecycle.drainDelayMs, lifecycle.remainingDrainMs], [3_000, 5_000]);
  clock.advance(3_000);
  assert.equal(lifecycle.remainingDrainMs, 5_000);
  clock.advance(4_000);
  assert.equal(lifecycle.remainingDrainMs, 1_000);
  clock.advance(4_000);
  assert.equal(lifecycle.remainingDrainMs, 0);

  const stopped = new ServiceLifecycle({ clock, drain, cleanup: new CleanupStack(), ...healthy });
  await stopped.stopImmediately();
  assert.deepEqual([stopped.drainDelayMs, stopped.remainingDrainMs], [0, 0]);
});

test('reports why the service is not ready, and calls cleanup callbacks once even if stop and stopImmediately are called', async () => {
  const cleanup = new CleanupStack();
  let closed = 0;
  cleanup.addCleanupCallback(() => closed++);
  const journal = { healthy: true };
  const lifecycle = new ServiceLifecycle({
    clock: new ManualClock(),
    drain: { delayMs: 0, deadlineMs: 5_000 },
    cleanup,
    ...healthy,
    journal,
  });
  assert.deepEqual(lifecycle.notReadyReasons(), ['the service is starting']);
  lifecycle.markServing();
  assert.deepEqual(lifecycle.notReadyReasons(), []);
  journal.healthy = false;
  assert.deepEqual(lifecycle.notReadyReasons(), ['the journal cannot be written']);
  await Promise.all([lifecycle.stop(), lifecycle.stopImmediately()]);
  assert.deepEqual([lifecycle.notReadyReasons(), lifecycle.isStopping, closed], [['the service is stopping'], true, 1]);
});
