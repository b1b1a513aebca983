import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { EventLoopMonitor } from '../../src/metrics/process-metrics.ts';

test('the event loop delay is cumulative over scrapes', async (t) => {
  const monitor = new EventLoopMonitor();
  t.after(() => monitor.close());
  const blockedMs = 250;
  const until = performance.now() + bounds.loopDelaySampleIntervalMs + blockedMs;
  while (performance.now() < until);
  while (monitor.delays.snapshot().count === 0) await new Promise(setImmediate);
  for (let reader = 0; reader < 2; reader++) {
    const { count, buckets } = monitor.delays.snapshot();
    const below = buckets.find(({ end }) => end === 0.2)?.count ?? 0;
    assert.ok(count - below >= 1, `${below} of ${count} timers were on time`);
  }
});

test('reports the active and idle time of the event loop', () => {
  const monitor = new EventLoopMonitor();
  monitor.close();
  const { active, idle } = monitor.utilization();
  assert.ok(active > 0 && idle >= 0);
});
