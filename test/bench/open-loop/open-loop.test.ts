import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ScriptedAnswer, scriptedLoad } from './scripted-server.ts';

const at = (status: number, afterMs: number): ScriptedAnswer => ({ status, afterMs });

test('sends requests on schedule and in order, and repeats the list after its end', async (t) => {
  const { result, sent } = await scriptedLoad(t, {});
  const lap = Array.from({ length: 50 }, (_, n) => `request ${n}`);
  assert.deepEqual(sent, [...lap, ...lap]);
  assert.deepEqual([result.expected, result.answered, result.achievedPerSecond], [100, 100, 200]);
});

test('ends with the last request if requests may be sent only once', async (t) => {
  const { result, sent } = await scriptedLoad(t, { singleUse: true, seconds: 30 });
  assert.deepEqual([result.due, sent.length], [50, 50]);
});

test('sends the warm-up requests and does not count them', async (t) => {
  const { result, sent } = await scriptedLoad(t, { warmUpSeconds: 0.25, seconds: 0.25 });
  assert.deepEqual([sent.length, result.due, result.answered], [100, 50, 100]);
});

test('includes the delay of the server in every latency', async (t) => {
  const { result } = await scriptedLoad(t, { connections: 64 }, { answerTo: () => at(200, 100) });
  assert.equal(result.expected, 100);
  assert.equal(Math.floor(result.latencyMs.p50), 100);
});

test('includes a stall of the server in the latency of every request that was due during the stall', async (t) => {
  // The server sends no response for 400 ms from the 100th request on. At 400 even arrivals per second, 160 requests
  // are due in that time.
  const stallMs = 400;
  let stalledAtMs = 0;
  const answerTo = (n: number, nowMs: number) => {
    if (n < 100) return at(200, 1);
    stalledAtMs ||= nowMs;
    return at(200, Math.max(1, stalledAtMs + stallMs - nowMs));
  };
  const { result } = await scriptedLoad(t, { perSecond: 400, seconds: 1, connections: 2 }, { answerTo });
  assert.equal(result.expected, 400);
  // In a closed loop with two connections, the stall would delay only two of 400 requests, and p99 would look good.
  assert.ok(result.latencyMs.p50 < stallMs / 2, `p50 ${result.latencyMs.p50}`);
  assert.ok(result.latencyMs.p99 >= 0.95 * stallMs, `p99 ${result.latencyMs.p99}`);
});

test('includes the wait for a free connection in the latency of a request', async (t) => {
  // One connection with 10 ms per response handles 100 of 200 requests per second: the last request waits for half a second.
  const { result } = await scriptedLoad(t, { connections: 1 }, { answerTo: () => at(200, 10) });
  assert.equal(result.expected, 100);
  assert.ok(result.latencyMs.p999 >= 500, `p99.9 ${result.latencyMs.p999}`);
  assert.ok(result.achievedPerSecond <= 100, String(result.achievedPerSecond));
});

test('counts rejected and failed requests separately, and counts neither as throughput', async (t) => {
  const statuses = [200, 429, 503, 500, 404];
  const { result } = await scriptedLoad(t, {}, { answerTo: (n) => at(statuses[n % 5]!, 1) });
  assert.deepEqual([result.expected, result.refused, result.achievedPerSecond], [20, 40, 40]);
  assert.deepEqual(result.failed, { status: 40, connection: 0, deadline: 0, notSent: 0 });
});

test('fails a request without a response at its deadline, reports the deadline as latency, and continues', async (t) => {
  const plan = { connections: 2, deadlineMs: 3_000 };
  const { result } = await scriptedLoad(t, plan, { answerTo: (n) => (n === 10 ? null : at(200, 1)) });
  assert.deepEqual(result.failed, { status: 0, connection: 0, deadline: 1, notSent: 0 });
  assert.equal(result.expected, 99);
  assert.ok(result.latencyMs.p999 >= 3_000 && result.latencyMs.p999 < 3_030, `p99.9 ${result.latencyMs.p999}`);
});

test('opens another connection after a request without a response', async (t) => {
  const plan = { connections: 1, deadlineMs: 100, seconds: 1 };
  const { result } = await scriptedLoad(t, plan, { answerTo: (n) => (n === 10 ? null : at(200, 1)) });
  // Requests that were due in the meantime miss their deadlines too.
  assert.ok(result.expected > 150 && result.expected < 200, String(result.expected));
  assert.equal(result.failed.deadline, 200 - result.expected);
});

test('fails a request if no connection is free and the queue is full', async (t) => {
  const plan = { connections: 2, waitingMax: 5, deadlineMs: 3_000 };
  const { result, sent } = await scriptedLoad(t, plan, { answerTo: () => null });
  // Two requests are pending and five requests wait until their deadlines.
  assert.equal(sent.length, 2);
  assert.deepEqual(result.failed, { status: 0, connection: 0, deadline: 7, notSent: 93 });
});

test('loses only the pending request when a connection breaks', async (t) => {
  const { result } = await scriptedLoad(t, { connections: 1 }, { answerTo: (n) => (n === 19 ? 'break' : at(200, 1)) });
  assert.deepEqual(result.failed, { status: 0, connection: 1, deadline: 0, notSent: 0 });
  assert.equal(result.expected, 99);
});

test('sends the next request after each response in a closed loop, with one pending request per connection', async (t) => {
  const plan = { perSecond: null, connections: 3 };
  const { result, sent, underWayMax } = await scriptedLoad(t, plan, { answerTo: () => at(200, 10) });
  assert.deepEqual([underWayMax, result.expected, sent.length, result.achievedPerSecond], [3, 150, 150, 300]);
});

test('ends a closed loop with the last request if requests may be sent only once', async (t) => {
  const { result, sent } = await scriptedLoad(t, { perSecond: null, singleUse: true, seconds: 30 });
  assert.deepEqual([result.expected, sent.length], [50, 50]);
});

test('rejects if the server accepts no connections', async (t) => {
  await assert.rejects(scriptedLoad(t, {}, { listens: false }), /takes no connections/);
});
