import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type PreparedRequest, writeRequests } from '../../../bench/load/prepared-request.ts';
import { failedInAll, type OpenLoopPlan, type OpenLoopResult } from '../../../bench/open-loop/open-loop-plan.ts';
import { runOpenLoop } from '../../../bench/open-loop/run-open-loop.ts';
import { type StubAnswer, type StubServer, startStubServer } from './stub-server.ts';

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bench-open-loop-'));
});
after(() => rm(folder, { recursive: true }));

const numbered: readonly PreparedRequest[] = Array.from({ length: 50 }, (_, n) => ({
  method: 'GET',
  path: `/${n}`,
  key: `key_${n}`,
}));

async function load(
  plan: Partial<OpenLoopPlan>,
  answerTo?: (n: number) => StubAnswer,
  requests: readonly PreparedRequest[] = numbered,
): Promise<{ result: OpenLoopResult; server: StubServer }> {
  const server = await startStubServer(answerTo);
  const requestsFile = join(folder, 'requests');
  await writeRequests(requestsFile, requests);
  try {
    const result = await runOpenLoop({
      port: server.port,
      requestsFile,
      once: false,
      perSecond: 200,
      arrivals: 'even',
      seed: 1,
      warmUpSeconds: 0,
      seconds: 0.5,
      connections: 4,
      waitingMax: 10_000,
      deadlineMs: 20_000,
      expectedStatus: 200,
      ...plan,
    });
    assert.equal(result.due, result.expected + result.refused + failedInAll(result.failed));
    return { result, server };
  } finally {
    server.close();
  }
}

test('sends what is due in order, begins again at the end of the list, and counts every answer', async () => {
  const { result, server } = await load({});
  assert.equal(result.expected, 100);
  assert.equal(result.answered, 100);
  const wanted = [...numbered, ...numbered].map(({ path, key }) => `GET ${path} Bearer ${key}`);
  // Different connections may overtake each other on their way.
  assert.deepEqual([...server.paths].sort(), wanted.sort());
});

test('sends a body as prepared', async () => {
  const { server } = await load({ seconds: 0.05 }, undefined, [
    { method: 'POST', path: '/p?q=1', body: '{"a":"é b"}' },
  ]);
  assert.deepEqual(server.bodies, new Array(10).fill('{"a":"é b"}'));
});

test('ends with the last request where each may be sent once only', async () => {
  const { result, server } = await load({ once: true, seconds: 30 });
  assert.equal(result.due, 50);
  assert.equal(server.paths.length, 50);
});

test('what is due in the warm-up is sent and not counted', async () => {
  const { result, server } = await load({ warmUpSeconds: 0.25, seconds: 0.25 });
  assert.equal(server.paths.length, 100);
  assert.equal(result.due, 50);
  assert.equal(result.answered, 100);
});

test('a known delay of the server is in every latency', async () => {
  const { result } = await load({ connections: 64 }, () => ({ status: 200, afterMs: 100 }));
  assert.equal(result.expected, 100);
  // A timer may be a millisecond early.
  assert.ok(result.latencyMs.p50 >= 98, String(result.latencyMs.p50));
});

test('a server that stops answering for a while is seen by all who would have come meanwhile', async () => {
  // From the 100th request on nothing is answered for 400 ms: of 400 even arrivals a second, 160 come in that time.
  const stallMs = 400;
  let stalledAt = 0;
  const { result } = await load({ perSecond: 400, seconds: 1, connections: 2 }, (n) => {
    if (n < 100) return { status: 200, afterMs: 0 };
    stalledAt ||= performance.now();
    return { status: 200, afterMs: Math.max(0, stallMs - (performance.now() - stalledAt)) };
  });
  assert.equal(result.expected, 400);
  // In a closed loop of two connections only two of 400 requests would have met it, and even p99 would look well.
  assert.ok(result.latencyMs.p99 >= 0.9 * stallMs, `p99 ${result.latencyMs.p99}`);
  assert.ok(result.latencyMs.p999 >= 0.9 * stallMs, `p99.9 ${result.latencyMs.p999}`);
});

test('a server slower than the load makes requests wait from when they were due', async () => {
  // One connection and 10 ms an answer are 100 a second at most, of 200: the last one waits for half a second.
  const { result } = await load({ connections: 1 }, () => ({ status: 200, afterMs: 10 }));
  assert.equal(result.expected, 100);
  assert.ok(result.latencyMs.p999 >= 350, `p99.9 ${result.latencyMs.p999}`);
  assert.ok(result.achievedPerSecond <= 120, String(result.achievedPerSecond));
});

test('refusals are told from answers and from failures, and neither is throughput', async () => {
  const statuses = [200, 429, 503, 500, 404];
  const { result } = await load({}, (n) => ({ status: statuses[n % 5]!, afterMs: 0 }));
  assert.equal(result.expected, 20);
  assert.equal(result.refused, 40);
  assert.deepEqual(result.failed, { status: 40, connection: 0, deadline: 0, notSent: 0 });
  // One in five of 200 a second.
  assert.ok(result.achievedPerSecond < 50, `${result.achievedPerSecond}`);
});

test('a request without an answer fails at its deadline, which counts as its latency, and the next ones go on', async () => {
  const { result } = await load({ connections: 2, deadlineMs: 3_000 }, (n) =>
    n === 10 ? null : { status: 200, afterMs: 0 },
  );
  assert.deepEqual(result.failed, { status: 0, connection: 0, deadline: 1, notSent: 0 });
  assert.equal(result.expected, 99);
  assert.ok(result.latencyMs.p999 >= 2_999, `p99.9 ${result.latencyMs.p999}`);
});

test('what finds neither a connection nor room to wait is not sent, and has failed', async () => {
  const { result, server } = await load({ connections: 2, waitingMax: 5, deadlineMs: 3_000 }, () => null);
  // Two are under way and five wait, until the deadlines have passed.
  assert.equal(server.paths.length, 2);
  assert.deepEqual(result.failed, { status: 0, connection: 0, deadline: 7, notSent: 93 });
});

test('a connection that breaks loses its request only', async () => {
  let answered = 0;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', () => {
      answered++;
      if (answered === 20) socket.destroy();
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const { result } = await load({ port, connections: 1 });
    assert.deepEqual(result.failed, { status: 0, connection: 1, deadline: 0, notSent: 0 });
    assert.equal(result.expected, 99);
  } finally {
    server.close();
  }
});

test('a closed loop sends as fast as answers come, and never more than it has connections', async () => {
  let underWay = 0;
  let mostUnderWay = 0;
  const { result, server } = await load({ perSecond: null, connections: 3 }, () => {
    mostUnderWay = Math.max(mostUnderWay, ++underWay);
    setTimeout(() => underWay--, 0);
    return { status: 200, afterMs: 1 };
  });
  assert.ok(mostUnderWay <= 3, String(mostUnderWay));
  assert.ok(result.expected > 3, String(result.expected));
  assert.equal(result.expected, server.paths.length);
  assert.ok(result.achievedPerSecond > 0);
});

test('a closed loop ends with the last request where each may be sent once only', async () => {
  const { result, server } = await load({ perSecond: null, once: true, seconds: 30 });
  assert.equal(result.expected, 50);
  assert.equal(server.paths.length, 50);
});

test('a server that takes no connections is said so', async () => {
  const server = await startStubServer();
  server.close();
  await writeRequests(join(folder, 'requests'), numbered);
  await assert.rejects(load({ port: server.port }), /takes no connections/);
});
