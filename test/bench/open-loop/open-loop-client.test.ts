import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { ConnectionEvents } from '../../../bench/open-loop/keep-alive-connection.ts';
import {
  type Connection,
  OpenLoopClient,
  type OpenLoopClientDeps,
  scheduleArrivals,
} from '../../../bench/open-loop/open-loop-client.ts';
import type { OpenLoopPlan } from '../../../bench/open-loop/open-loop-plan.ts';

/** Response to one request after a delay in milliseconds. Null: no response. `break`: the connection breaks. */
type ScriptedAnswer = { readonly status: number; readonly afterMs: number } | 'break' | null;

interface Script {
  /** Returns the response to the n-th request, from 0, at a time. Default: status 200 after 1 ms. */
  readonly answerTo?: (n: number, nowMs: number) => ScriptedAnswer;
  /** Whether the server accepts connections. */
  readonly listens?: boolean;
}

const reopenMs = 50;
const requests = Array.from({ length: 50 }, (_, n) => Buffer.from(`request ${n}`));

/**
 * Runs a load in simulated time, in steps of one millisecond, on connections in memory. Returns also the sent requests in their order, and
 * the maximum number of pending requests.
 */
async function scriptedLoad(
  t: TestContext,
  plan: Partial<OpenLoopPlan>,
  { answerTo = () => ({ status: 200, afterMs: 1 }), listens = true }: Script = {},
) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const sent: string[] = [];
  let nowMs = 0;
  let underWay = 0;
  let underWayMax = 0;
  let handleDue = () => {};

  const deps: OpenLoopClientDeps = {
    nowMs: () => nowMs,
    startPacer: async (dueMs, onDue) => {
      let next = 0;
      handleDue = () => {
        if (next < dueMs.length && dueMs[next]! <= nowMs) next = onDue();
      };
      return { stop: async () => {} };
    },
    openConnection: (_port, events) => (listens ? new ScriptedConnection(events) : closed),
  };

  class ScriptedConnection implements Connection {
    readonly #events: ConnectionEvents;
    #open = false;
    #answer: NodeJS.Timeout | null = null;
    isIdle = false;

    constructor(events: ConnectionEvents) {
      this.#events = events;
      this.#reopen(1);
    }

    send(bytes: Buffer): void {
      this.isIdle = false;
      underWayMax = Math.max(underWayMax, ++underWay);
      const answer = answerTo(sent.length, nowMs);
      sent.push(bytes.toString());
      if (answer === null) return;
      if (answer === 'break') this.#answer = setTimeout(() => this.#break(), 1);
      else this.#answer = setTimeout(() => this.#deliver(answer.status), answer.afterMs);
    }

    abandonPendingRequest(): void {
      underWay--;
      if (this.#answer !== null) clearTimeout(this.#answer);
      this.#open = false;
      this.#reopen(reopenMs);
    }

    end(): void {
      this.#open = false;
    }

    #deliver(status: number): void {
      underWay--;
      this.isIdle = this.#open;
      this.#events.onResponse(status);
      if (this.isIdle) this.#events.onIdle();
    }

    #break(): void {
      underWay--;
      this.#open = false;
      this.#events.onRequestFailed();
      this.#reopen(reopenMs);
    }

    #reopen(afterMs: number): void {
      setTimeout(() => {
        this.#open = true;
        this.isIdle = true;
        this.#events.onIdle();
      }, afterMs);
    }
  }

  const run = new OpenLoopClient(
    {
      port: 1,
      requestsFile: '',
      singleUse: false,
      perSecond: 200,
      warmUpSeconds: 0,
      seconds: 0.5,
      connections: 4,
      queueMax: 10_000,
      deadlineMs: 20_000,
      expectedStatus: 200,
      ...plan,
    },
    requests,
    deps,
  ).run();
  let ended = false;
  const markEnded = () => {
    ended = true;
  };
  run.then(markEnded, markEnded);
  for (await turn(); !ended; await turn()) {
    nowMs++;
    t.mock.timers.tick(1);
    handleDue();
  }
  const result = await run;
  t.mock.timers.reset();
  if (result.due !== result.expected + result.refused + result.failed) {
    throw new Error(`not every request has one outcome: ${JSON.stringify(result)}`);
  }
  return { result, sent, underWayMax };
}

const closed: Connection = { isIdle: false, send: () => {}, abandonPendingRequest: () => {}, end: () => {} };

const at = (status: number, afterMs: number): ScriptedAnswer => ({ status, afterMs });

test('sends requests on schedule and in the order of the list, and repeats the list after its end', async (t) => {
  const { result, sent } = await scriptedLoad(t, {});
  assert.deepEqual(sent, [...requests, ...requests].map(String));
  assert.deepEqual([result.expected, result.answered, result.achievedPerSecond], [100, 100, 200]);
});

test('the load ends after the last request of a list that must not be repeated', async (t) => {
  for (const perSecond of [200, null]) {
    const { result, sent } = await scriptedLoad(t, { perSecond, singleUse: true, seconds: 30 });
    assert.deepEqual([result.due, result.expected, sent.length], [50, 50, 50]);
  }
});

test('sends the warm-up requests and does not count them', async (t) => {
  const { result, sent } = await scriptedLoad(t, { warmUpSeconds: 0.25, seconds: 0.25 });
  assert.deepEqual([sent.length, result.due, result.answered], [100, 50, 100]);
});

test('a stall of the server increases the latency of every request that is scheduled during the stall', async (t) => {
  // The server sends no response for 400 ms from the 100th request on. At 400 arrivals per second, 160 requests are due in that time.
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

test('the latency of a request includes the time for which the request waits for a free connection', async (t) => {
  // One connection with 10 ms per response handles 100 of 200 requests per second: the last request waits for half a second.
  const { result } = await scriptedLoad(t, { connections: 1 }, { answerTo: () => at(200, 10) });
  assert.equal(result.expected, 100);
  assert.ok(result.latencyMs.p999 >= 500, `p99.9 ${result.latencyMs.p999}`);
  assert.ok(result.achievedPerSecond <= 100, String(result.achievedPerSecond));
});

test('counts rejected and failed requests separately, and counts neither as throughput', async (t) => {
  const statuses = [200, 429, 503, 500, 404];
  const { result } = await scriptedLoad(t, {}, { answerTo: (n) => at(statuses[n % 5]!, 1) });
  assert.deepEqual([result.expected, result.refused, result.failed], [20, 40, 40]);
  assert.ok(result.achievedPerSecond <= 40, String(result.achievedPerSecond));
});

test('counts a request without a response as failed, and records the deadline as its latency', async (t) => {
  const plan = { connections: 2, deadlineMs: 3_000 };
  const { result } = await scriptedLoad(t, plan, { answerTo: (n) => (n === 10 ? null : at(200, 1)) });
  assert.deepEqual([result.failed, result.expected], [1, 99]);
  assert.ok(result.latencyMs.p999 >= 3_000 && result.latencyMs.p999 < 3_030, `p99.9 ${result.latencyMs.p999}`);
});

test('opens another connection after a request that got no response', async (t) => {
  const plan = { connections: 1, deadlineMs: 100, seconds: 1 };
  const { result } = await scriptedLoad(t, plan, { answerTo: (n) => (n === 10 ? null : at(200, 1)) });
  // Requests that were due in the meantime miss their deadlines too.
  assert.ok(result.expected > 150 && result.expected < 200, String(result.expected));
  assert.equal(result.failed, 200 - result.expected);
});

test('a request fails if no connection is free and the queue is full', async (t) => {
  const plan = { connections: 2, queueMax: 5, deadlineMs: 3_000 };
  const { result, sent } = await scriptedLoad(t, plan, { answerTo: () => null });
  // Two requests are pending and five requests wait until their deadlines.
  assert.equal(sent.length, 2);
  assert.equal(result.failed, 100);
});

test('loses only the pending request when a connection breaks', async (t) => {
  const { result } = await scriptedLoad(t, { connections: 1 }, { answerTo: (n) => (n === 19 ? 'break' : at(200, 1)) });
  assert.deepEqual([result.failed, result.expected], [1, 99]);
});

test('in a closed loop, each connection sends its next request after the previous response', async (t) => {
  const plan = { perSecond: null, connections: 3 };
  const { result, sent, underWayMax } = await scriptedLoad(t, plan, { answerTo: () => at(200, 10) });
  assert.deepEqual([underWayMax, result.expected, sent.length, result.achievedPerSecond], [3, 150, 150, 300]);
});

test('a load run fails if the server accepts no connection', async (t) => {
  await assert.rejects(scriptedLoad(t, {}, { listens: false }), /does not accept connections/);
});

test('scheduled arrival times never decrease, and the gaps between arrivals are distributed exponentially', () => {
  const times = scheduleArrivals(1_000, 0, 50);
  assert.equal(times.length, 50_000);
  const gaps = times.map((ms, place) => ms - (times[place - 1] ?? 0));
  assert.ok(gaps.every((gap) => gap >= 0));
  // In an exponential distribution, a share of 1 - 1/e of the gaps is below the mean, and the standard deviation equals the mean.
  assert.ok(Math.abs(gaps.filter((gap) => gap < 1).length / gaps.length - 0.632) < 0.02);
  const deviation = Math.sqrt(gaps.reduce((sum, gap) => sum + (gap - 1) ** 2, 0) / gaps.length);
  assert.ok(Math.abs(deviation - 1) < 0.05, String(deviation));
});
