import type { TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { ConnectionEvents } from '../../../bench/open-loop/keep-alive-connection.ts';
import { type Connection, OpenLoopClient, type OpenLoopDeps } from '../../../bench/open-loop/open-loop-client.ts';
import { type OpenLoopPlan, type OpenLoopResult, totalFailures } from '../../../bench/open-loop/open-loop-plan.ts';

/** Response to one request after a delay in milliseconds. Null: no response. `break`: the connection breaks. */
export type ScriptedAnswer = { readonly status: number; readonly afterMs: number } | 'break' | null;

interface Script {
  /** Returns the response to the n-th request, from 0, at a time. Default: status 200 after 1 ms. */
  readonly answerTo?: (n: number, nowMs: number) => ScriptedAnswer;
  /** Whether the server accepts connections. */
  readonly listens?: boolean;
}

interface ScriptedLoad {
  readonly result: OpenLoopResult;
  /** Sent requests in their order. */
  readonly sent: readonly string[];
  /** Maximum number of pending requests. */
  readonly underWayMax: number;
}

const reopenMs = 50;
const requests = Array.from({ length: 50 }, (_, n) => Buffer.from(`request ${n}`));

/** Runs a load in simulated time, in steps of one millisecond, on connections in memory. */
export async function scriptedLoad(
  t: TestContext,
  plan: Partial<OpenLoopPlan>,
  { answerTo = () => ({ status: 200, afterMs: 1 }), listens = true }: Script = {},
): Promise<ScriptedLoad> {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  const sent: string[] = [];
  let nowMs = 0;
  let underWay = 0;
  let underWayMax = 0;
  let handleDue = () => {};

  const deps: OpenLoopDeps = {
    nowMs: () => nowMs,
    startPacer: async (dueMs, onDue) => {
      let next = 0;
      handleDue = () => {
        if (next < dueMs.length && dueMs[next]! <= nowMs) next = onDue();
      };
      return { stop: async () => {} };
    },
    connect: (_port, events) => (listens ? new ScriptedConnection(events) : closed),
  };

  class ScriptedConnection implements Connection {
    readonly #events: ConnectionEvents;
    #open = false;
    #answer: NodeJS.Timeout | null = null;
    isFree = false;

    constructor(events: ConnectionEvents) {
      this.#events = events;
      this.#reopen(1);
    }

    send(bytes: Buffer): void {
      this.isFree = false;
      underWayMax = Math.max(underWayMax, ++underWay);
      const answer = answerTo(sent.length, nowMs);
      sent.push(bytes.toString());
      if (answer === null) return;
      if (answer === 'break') this.#answer = setTimeout(() => this.#break(), 1);
      else this.#answer = setTimeout(() => this.#deliver(answer.status), answer.afterMs);
    }

    abandon(): void {
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
      this.isFree = this.#open;
      this.#events.onResponse(status);
      if (this.isFree) this.#events.onIdle();
    }

    #break(): void {
      underWay--;
      this.#open = false;
      this.#events.onLost();
      this.#reopen(reopenMs);
    }

    #reopen(afterMs: number): void {
      setTimeout(() => {
        this.#open = true;
        this.isFree = true;
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
      arrivals: 'even',
      seed: 1,
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
  run.then(
    () => (ended = true),
    () => (ended = true),
  );
  for (await turn(); !ended; await turn()) {
    nowMs++;
    t.mock.timers.tick(1);
    handleDue();
  }
  const result = await run;
  t.mock.timers.reset();
  if (result.due !== result.expected + result.refused + totalFailures(result.failed)) {
    throw new Error(`not every request has one outcome: ${JSON.stringify(result)}`);
  }
  return { result, sent, underWayMax };
}

const closed: Connection = { isFree: false, send: () => {}, abandon: () => {}, end: () => {} };
