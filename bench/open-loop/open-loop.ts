import { performance } from 'node:perf_hooks';
import { arrivalTimes } from './arrival-times.ts';
import { type ConnectionEvents, KeepAliveConnection } from './keep-alive-connection.ts';
import { LoadTally } from './load-tally.ts';
import type { OpenLoopPlan, OpenLoopResult } from './open-loop-plan.ts';
import { monotonicMs, Pacer } from './pacer.ts';
import { WaitingRing } from './waiting-ring.ts';

/** How late a deadline may be noticed. */
const deadlineCheckMs = 10;
/** What the connections may take to open. */
const connectMs = 3_000;
/** From the last preparation to the start of the schedule. */
const startMs = 10;

/** What a load uses of the system. A test passes a clock and connections of its own. */
export interface OpenLoopDeps {
  nowMs(): number;
  /** @see Pacer.start */
  startPacer(dueMs: readonly number[], onDue: () => number): Promise<Pick<Pacer, 'stop'>>;
  connect(port: number, events: ConnectionEvents): Connection;
}

export type Connection = Pick<KeepAliveConnection, 'isFree' | 'send' | 'abandon' | 'end'>;

const systemDeps: OpenLoopDeps = {
  nowMs: monotonicMs,
  startPacer: Pacer.start,
  connect: (port, events) => new KeepAliveConnection(port, events),
};

/** A connection, and the request it carries. */
interface Lane {
  readonly connection: Connection;
  /** Number of the request under way, or `none`. */
  request: number;
}
const none = -1;

/** Sends requests when they are due, over few connections, and holds none of them back because an answer is late. */
export class OpenLoop {
  readonly #plan: OpenLoopPlan;
  readonly #requests: readonly Buffer[];
  readonly #deps: OpenLoopDeps;
  readonly #lanes: Lane[] = [];
  /** Those that can take a request, the one that has been idle longest first: none is idle for so long that it is closed. */
  readonly #free = new Set<Lane>();
  readonly #waiting: WaitingRing;
  readonly #done = Promise.withResolvers<void>();
  #dueMs: number[] = [];
  #next = 0;
  #underWay = 0;
  #countedFromMs = 0;
  #endMs = 0;
  #tally!: LoadTally;
  #started = false;
  #cpuAtStart: NodeJS.CpuUsage | null = null;
  #own: Pick<OpenLoopResult, 'busy' | 'clientCpuSeconds'> | null = null;
  #loopAtStart: ReturnType<typeof performance.eventLoopUtilization> | null = null;

  /** @param requests as they go over the wire, at least one */
  constructor(plan: OpenLoopPlan, requests: readonly Buffer[], deps = systemDeps) {
    this.#plan = plan;
    this.#requests = requests;
    this.#deps = deps;
    this.#waiting = new WaitingRing(plan.waitingMax);
  }

  /** Throws when the server takes no connections. */
  async run(): Promise<OpenLoopResult> {
    const { perSecond, warmUpSeconds, seconds, expectedStatus, alsoExpected = [], once } = this.#plan;
    await this.#connect();
    const loadSeconds = warmUpSeconds + seconds;
    const times = perSecond === null ? [] : arrivalTimes({ ...this.#plan, perSecond });
    if (once) times.length = Math.min(times.length, this.#requests.length);
    // A closed loop is on its way at once.
    const began = this.#deps.nowMs() + (perSecond === null ? 0 : startMs);
    this.#dueMs = times.map((ms) => began + ms);
    this.#countedFromMs = began + warmUpSeconds * 1_000;
    this.#endMs = began + loadSeconds * 1_000;
    this.#tally = new LoadTally([expectedStatus, ...alsoExpected], this.#countedFromMs);
    const deadlines = setInterval(() => this.#giveUpLate(), deadlineCheckMs);
    this.#started = true;
    let pacer: Pick<Pacer, 'stop'> | null = null;
    if (perSecond === null) for (const lane of [...this.#free]) this.#sendAgain(lane);
    else if (times.length === 0) this.#done.resolve();
    else pacer = await this.#deps.startPacer(this.#dueMs, () => this.#takeDue());
    await this.#done.promise;
    clearInterval(deadlines);
    for (const { connection } of this.#lanes) connection.end();
    await pacer?.stop();
    return { ...this.#tally.result(), ...(this.#own ?? { busy: 0, clientCpuSeconds: 0 }) };
  }

  async #connect(): Promise<void> {
    const opened = Promise.withResolvers<void>();
    const timer = setTimeout(() => opened.reject(new Error('the server takes no connections')), connectMs);
    for (let count = 0; count < this.#plan.connections; count++) {
      const lane: Lane = {
        connection: this.#deps.connect(this.#plan.port, {
          onAnswer: (status) => this.#answered(lane, status),
          onLost: () => this.#settle(lane, (dueMs) => this.#tally.failed(dueMs, this.#deps.nowMs(), 'connection')),
          onFree: () => {
            this.#freed(lane);
            if (this.#free.size === this.#plan.connections) opened.resolve();
          },
        }),
        request: none,
      };
      this.#lanes.push(lane);
    }
    try {
      await opened.promise;
    } catch (fault) {
      for (const { connection } of this.#lanes) connection.end();
      throw fault;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sees to everything that is due: on a connection, or waiting for one, or not at all. */
  #takeDue(): number {
    const nowMs = this.#deps.nowMs();
    while (this.#next < this.#dueMs.length && this.#dueMs[this.#next]! <= nowMs) {
      const request = this.#next++;
      const dueMs = this.#dueMs[request]!;
      this.#noteStart(dueMs);
      this.#tally.due(dueMs, nowMs);
      const lane = this.#takeFree();
      if (lane !== undefined) this.#send(lane, request);
      else if (!this.#waiting.add(request)) this.#tally.failed(dueMs, nowMs, 'notSent');
    }
    if (this.#next === this.#dueMs.length) this.#noteEnd(this.#plan.once ? nowMs : this.#endMs);
    this.#endIfDone();
    return this.#next;
  }

  #takeFree(): Lane | undefined {
    for (const lane of this.#free) {
      this.#free.delete(lane);
      if (lane.connection.isFree) return lane;
    }
    return undefined;
  }

  #freed(lane: Lane): void {
    if (this.#started && this.#plan.perSecond === null) {
      this.#sendAgain(lane);
      return;
    }
    const request = this.#waiting.take();
    if (request !== undefined) this.#send(lane, request);
    else {
      this.#free.delete(lane);
      this.#free.add(lane);
    }
  }

  /** The next request of a closed loop: due now. */
  #sendAgain(lane: Lane): void {
    const nowMs = this.#deps.nowMs();
    const usedUp = this.#plan.once && this.#next === this.#requests.length;
    if (nowMs >= this.#endMs || usedUp) {
      this.#noteEnd(nowMs);
      this.#endIfDone();
      return;
    }
    if (!lane.connection.isFree) return;
    this.#noteStart(nowMs);
    this.#dueMs.push(nowMs);
    this.#tally.due(nowMs, nowMs);
    this.#send(lane, this.#next++);
  }

  #send(lane: Lane, request: number): void {
    lane.request = request;
    this.#underWay++;
    lane.connection.send(this.#requests[request % this.#requests.length]!);
  }

  #answered(lane: Lane, status: number): void {
    this.#settle(lane, (dueMs) => this.#tally.answered(dueMs, this.#deps.nowMs(), status));
  }

  #settle(lane: Lane, how: (dueMs: number) => void): void {
    const { request } = lane;
    lane.request = none;
    this.#underWay--;
    how(this.#dueMs[request]!);
    this.#endIfDone();
  }

  #giveUpLate(): void {
    const nowMs = this.#deps.nowMs();
    const isLate = (request: number) => this.#dueMs[request]! + this.#plan.deadlineMs <= nowMs;
    for (let request = this.#waiting.peek(); request !== undefined && isLate(request); request = this.#waiting.peek()) {
      this.#waiting.take();
      this.#tally.failed(this.#dueMs[request]!, nowMs, 'deadline');
    }
    for (const lane of this.#lanes) {
      const { request } = lane;
      if (request === none || !isLate(request)) continue;
      this.#settle(lane, (dueMs) => this.#tally.failed(dueMs, nowMs, 'deadline'));
      lane.connection.abandon();
    }
    this.#endIfDone();
  }

  #endIfDone(): void {
    const allDue =
      this.#plan.perSecond === null
        ? this.#deps.nowMs() >= this.#endMs
        : this.#next === this.#dueMs.length && this.#waiting.size === 0;
    if (allDue && this.#underWay === 0) this.#done.resolve();
  }

  #noteStart(dueMs: number): void {
    if (this.#cpuAtStart !== null || dueMs < this.#countedFromMs) return;
    this.#cpuAtStart = process.cpuUsage();
    this.#loopAtStart = performance.eventLoopUtilization();
  }

  /** Nothing becomes due any more: from here on the client only waits. */
  #noteEnd(endMs: number): void {
    if (this.#own !== null) return;
    this.#endMs = Math.min(this.#endMs, endMs);
    this.#tally.end(this.#endMs);
    const cpu = process.cpuUsage(this.#cpuAtStart ?? undefined);
    const { utilization } = performance.eventLoopUtilization(this.#loopAtStart ?? undefined);
    this.#own = { busy: utilization, clientCpuSeconds: (cpu.user + cpu.system) / 1e6 };
  }
}
