import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOpenLoopClientSaturated } from '../../../bench/load/client-saturation.ts';

const latency = (p99: number) => ({ p50: p99 / 2, p99, p999: p99 * 2 });

test('a client that was always busy is saturated, whatever the latencies', () => {
  assert.ok(isOpenLoopClientSaturated({ busy: 0.97, lagMs: latency(1), latencyMs: latency(400) }));
});

test('a client that sent late is saturated when that is most of the latency', () => {
  assert.ok(isOpenLoopClientSaturated({ busy: 0.3, lagMs: latency(40), latencyMs: latency(50) }));
});

test('a slow server is not taken for a saturated client, nor are two small figures', () => {
  assert.ok(!isOpenLoopClientSaturated({ busy: 0.6, lagMs: latency(40), latencyMs: latency(400) }));
  assert.ok(!isOpenLoopClientSaturated({ busy: 0.1, lagMs: latency(0.4), latencyMs: latency(0.6) }));
});
