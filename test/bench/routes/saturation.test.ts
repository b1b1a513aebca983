import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isClientSaturated } from '../../../bench/load/client-saturation.ts';
import type { Measurement, ServerKind } from '../../../bench/result/bench-result.ts';

/** A server that answered so many a second, with its socket thread and the client so busy, as shares of their time. */
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

test('a busy server before a client with time left was what gave first', () => {
  assert.equal(isClientSaturated([service, server('bare', 1_000, 0.99, 0.8)]), false);
});

test('a client that used up its threads gave first, whatever the server says', () => {
  assert.equal(isClientSaturated([service, server('bare', 1_000, 0.99, 0.98)]), true);
  assert.equal(isClientSaturated([service, server('bare', 1_000, null, 0.98)]), true);
});

test('each of the threads of a client counts', () => {
  assert.equal(isClientSaturated([service, server('bare', 1_000, 0.99, 0.8, 2)]), false);
  assert.equal(isClientSaturated([service, server('bare', 1_000, 0.99, 0.99, 2)]), true);
});

test('a server with time left could have answered more', () => {
  assert.equal(isClientSaturated([service, server('bare', 1_000, 0.7, 0.8)]), true);
});

test('only the fastest server is looked at: a slow one may wait for its disk', () => {
  assert.equal(isClientSaturated([service, server('fastify', 500, 0.7, 0.8), server('bare', 1_000, 0.97, 0.8)]), false);
});

test('where nothing was measured nothing is said', () => {
  assert.equal(isClientSaturated([]), false);
  assert.equal(isClientSaturated([{ kind: 'bare', rounds: [] }]), false);
});
