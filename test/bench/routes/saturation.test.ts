import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isClientSaturated } from '../../../bench/load/client-saturation.ts';
import type { Measurement, ServerKind } from '../../../bench/result/bench-result.ts';

/** Creates the figures of a server: responses per second, and the busy shares of its socket thread and of the client. */
function server(kind: ServerKind, perSecond: number, server: number | null, client: number, clientThreads = 1) {
  const round: Measurement = {
    requests: perSecond * 2,
    seconds: 2,
    perSecond,
    latencyMs: { p50: 1, p99: 2, p999: 3 },
    clientCpuSeconds: client * clientThreads * 2,
    clientThreads,
    cpuMicros: null,
    mainThreadCpuMicros: server === null ? null : (server * 1e6) / perSecond,
    process: null,
  };
  return { kind, rounds: [round, round, round] };
}

const service = server('service', 100, 0.5, 0.3);

test('names the server as saturated if the server is busy and the client is partly idle', () => {
  assert.equal(isClientSaturated([service, server('bare', 1_000, 0.99, 0.8)]), false);
});

test('names the client as saturated if its threads are busy, whatever the load of the server', () => {
  assert.equal(isClientSaturated([service, server('bare', 1_000, 0.99, 0.98)]), true);
  assert.equal(isClientSaturated([service, server('bare', 1_000, null, 0.98)]), true);
});

test('counts every thread of a client', () => {
  assert.equal(isClientSaturated([service, server('bare', 1_000, 0.99, 0.8, 2)]), false);
  assert.equal(isClientSaturated([service, server('bare', 1_000, 0.99, 0.99, 2)]), true);
});

test('reports the client as saturated if the fastest server is partly idle', () => {
  assert.equal(isClientSaturated([service, server('bare', 1_000, 0.7, 0.8)]), true);
});

test('uses only the fastest server, because a slow server may wait for its disk', () => {
  assert.equal(isClientSaturated([service, server('fastify', 500, 0.7, 0.8), server('bare', 1_000, 0.97, 0.8)]), false);
});

test('does not report saturation without measurements', () => {
  assert.equal(isClientSaturated([]), false);
  assert.equal(isClientSaturated([{ kind: 'bare', rounds: [] }]), false);
});
