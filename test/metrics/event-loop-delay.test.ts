import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { EventLoopMonitor } from '../../src/metrics/process-metrics.ts';

test('sees a loop that was held up, and forgets it for no reader', async (t) => {
  const delay = new EventLoopMonitor();
  t.after(() => delay.close());
  const heldUpMs = 250;
  const until = performance.now() + bounds.loopDelaySampleIntervalMs + heldUpMs;
  while (performance.now() < until);
  while (delay.delays.snapshot().count === 0) await new Promise(setImmediate);
  for (let reader = 0; reader < 2; reader++) {
    const { count, buckets } = delay.delays.snapshot();
    const below = buckets.find(({ end }) => end === 0.2)?.count ?? 0;
    assert.ok(count - below >= 1, `${below} of ${count} looks were early enough`);
  }
});

test('tells how much of its time the loop had work', () => {
  const delay = new EventLoopMonitor();
  delay.close();
  const { active, idle } = delay.utilization();
  assert.ok(active > 0 && idle >= 0);
});
