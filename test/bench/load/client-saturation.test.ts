import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isClientSaturated, isOpenLoopClientSaturated } from '../../../bench/load/client-saturation.ts';
import type { BenchServerKind, RouteResult } from '../../../bench/result/bench-result.ts';
import { measurement } from '../support/small-result.ts';

/** Creates the figures of a server: responses per second, and the busy shares of its socket thread and of the client. */
function server(kind: BenchServerKind, perSecond: number, busy: number | null, clientCpuSeconds: number) {
  const round = measurement(perSecond, busy === null ? null : (busy * 1e6) / perSecond);
  return { kind, rounds: [{ ...round, clientCpuSeconds }] };
}

for (const [title, expected, servers, slow = [server('service', 100, 0.5, 0.3)]] of [
  ['the server is busy and the client is partly idle', false, [server('bare', 1_000, 0.99, 0.8)]],
  ['the client is busy, whatever the load of the server', true, [server('bare', 1_000, 0.99, 0.98)]],
  ['the client is busy and the system reports no CPU times', true, [server('bare', 1_000, null, 0.98)]],
  ['the fastest server is partly idle', true, [server('bare', 1_000, 0.7, 0.8)]],
  [
    'only a slower server is idle, which may wait for its disk',
    false,
    [server('fastify', 500, 0.7, 0.8), server('bare', 1_000, 0.97, 0.8)],
  ],
  ['nothing was measured', false, [{ kind: 'bare', rounds: [] }], []],
] as [string, boolean, RouteResult['servers'], RouteResult['servers']?][]) {
  test(`isClientSaturated returns ${expected} if ${title}`, () => {
    assert.equal(isClientSaturated([...slow, ...servers]), expected);
  });
}

test('a client is saturated if its event loop is always busy, or if it delays requests by more than half of the latency', () => {
  const latency = (p99: number) => ({ p50: p99 / 2, p99, p999: p99 * 2 });
  for (const [busy, lagMs, latencyMs, expected] of [
    [0.97, 1, 400, true],
    [0.3, 40, 50, true],
    [0.6, 40, 400, false],
    [0.1, 0.4, 0.6, false],
  ] as const) {
    const client = { busy, lagMs: latency(lagMs), latencyMs: latency(latencyMs) };
    assert.equal(isOpenLoopClientSaturated(client), expected, JSON.stringify(client));
  }
});
