import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOpenLoopClientSaturated } from '../../../bench/load/client-saturation.ts';

const latency = (p99: number) => ({ p50: p99 / 2, p99, p999: p99 * 2 });

test('reports a client that was always busy as saturated, whatever the latencies', () => {
  assert.ok(isOpenLoopClientSaturated({ busy: 0.97, lagMs: latency(1), latencyMs: latency(400) }));
});

test('reports a client as saturated if late sending causes most of the latency', () => {
  assert.ok(isOpenLoopClientSaturated({ busy: 0.3, lagMs: latency(40), latencyMs: latency(50) }));
});

test('does not report a saturated client for a slow server or for two small figures', () => {
  assert.ok(!isOpenLoopClientSaturated({ busy: 0.6, lagMs: latency(40), latencyMs: latency(400) }));
  assert.ok(!isOpenLoopClientSaturated({ busy: 0.1, lagMs: latency(0.4), latencyMs: latency(0.6) }));
});
