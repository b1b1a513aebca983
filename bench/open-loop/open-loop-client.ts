import { performance } from 'node:perf_hooks';
import { seededRandom } from '../population/random.ts';
import { type ConnectionEvents, KeepAliveConnection } from './keep-alive-connection.ts';
import { LoadRecorder } from './load-recorder.ts';
import type { OpenLoopPlan, OpenLoopResult } from './open-loop-plan.ts';
import { monotonicMs, type Pacer, startPacer } from './pacer.ts';

const arrivalsSeed = 17;

/**
 * Returns the time of each request in milliseconds from the start, ascending. The rate determines the number of requests. The times are
 * random, like the arrivals of independent visitors.
 */
export function scheduleArrivals(perSecond: number, warmUpSeconds: number, seconds: number): number[] {
  const random = seededRandom(arrivalsSeed);
  // The arrival times of a fixed number of independent visitors are uniformly distributed.
  const within = (fromSeconds: number, length: number): number[] =>
    Array.from({ length: Math.round(perSecond * length) }, () => 1_000 * (fromSeconds + random() * length)).sort(
      (a, b) => a - b,
    );
  return [...within(0, warmUpSeconds), ...within(warmUpSeconds, seconds)];
}

/** Interval at which the client checks the deadlines of pending requests. */
const deadlinePollMs = 10;
/** Maximum time to open all connections. */
const connectTimeoutMs = 3_000;
/** Delay between the end of the preparation and the start of the schedule. */
const startDelayMs = 10;

/** Replaceable dependencies of the client: clock, pacer and connections. */
export interface OpenLoopClientDeps {
  nowMs(): number;
  readonly startPacer: typeof startPacer;
  openConnection(port: number, events: ConnectionEvents): Connection;
}

export type Connection = Pick<KeepAliveConnection, 'isIdle' | 'send' | 'abandonPendingRequest' | 'end'>;

const systemDeps: OpenLoopClientDeps = {
  nowMs: monotonicMs,
  startPacer,
  openConnection: (port, events) => new KeepAliveConnection(port, events),
};

/** A connection and its pending request. */
interface ConnectionSlot {
  readonly connection: Connection;
  /** Index of the pending request, or `none` if the connection is idle. */
  request: number;
}
const noRequest = -1;

/** Sends requests at their scheduled times over a limited number of connections, even if replies are late. */
export class OpenLoopClient {
  readonly #plan: OpenLoopPlan;
  readonly #requests: readonly Buffer[];
  readonly #deps: OpenLoopClientDeps;
  readonly #slots: ConnectionSlot[] = [];
  /** Idle connections, longest idle first. The next request uses the connection that has been idle longest. */
  readonly #idleSlots = new Set<ConnectionSlot>();
  /** Scheduled requests that wait for a free connection, in the order of their times. */
  readonly #queue: number[] = [];
  readonly #done = Promise.withResolvers<void>();
  #dueMs: number[] = [];
  #next = 0;
  #inFlight = 0;
  #countedFromMs = 0;
  #endMs = 0;
  #recorder!: LoadRecorder;
  #started = false;
  #busy: number | null = null;
  #loopAtStart: ReturnType<typeof performance.eventLoopUtilization> | null = null;

  /** @param requests encoded requests, at least one */
  constructor(plan: OpenLoopPlan, requests: readonly Buffer[], deps = systemDeps) {
    this.#plan = plan;
    this.#requests = requests;
    this.#deps = deps;
  }

  /** Runs the load. Throws if the server does not accept connections. */
  async run(): Promise<OpenLoopResult> {
    const { perSecond, warmUpSeconds, seconds, expectedStatus, alsoExpected = [], singleUse: once } = this.#plan;
    await this.#openAllConnections();
    const loadSeconds = warmUpSeconds + seconds;
    const times = perSecond === null ? [] : scheduleArrivals(perSecond, warmUpSeconds, seconds);
    if (once) times.length = Math.min(times.length, this.#requests.length);
    // Without a request rate (`perSecond` is null), requests start at once.
    const began = this.#deps.nowMs() + (perSecond === null ? 0 : startDelayMs);
    this.#dueMs = times.map((ms) => began + ms);
    this.#countedFromMs = began + warmUpSeconds * 1_000;
    this.#endMs = began + loadSeconds * 1_000;
    this.#recorder = new LoadRecorder([expectedStatus, ...alsoExpected], this.#countedFromMs);
    const deadlines = setInterval(() => this.#failOverdueRequests(), deadlinePollMs);
    this.#started = true;
    let pacer: Pacer | null = null;
    if (perSecond === null) for (const lane of [...this.#idleSlots]) this.#sendNextAfterResponse(lane);
    else if (times.length === 0) this.#done.resolve();
    else pacer = await this.#deps.startPacer(this.#dueMs, () => this.#sendDueRequests());
    await this.#done.promise;
    clearInterval(deadlines);
    for (const { connection } of this.#slots) connection.end();
    await pacer?.stop();
    return { ...this.#recorder.getLoadResult(), busy: this.#busy ?? 0 };
  }

  async #openAllConnections(): Promise<void> {
    const opened = Promise.withResolvers<void>();
    const timer = setTimeout(
      () => opened.reject(new Error('the server does not accept connections')),
      connectTimeoutMs,
    );
    for (let count = 0; count < this.#plan.connections; count++) {
      const lane: ConnectionSlot = {
        connection: this.#deps.openConnection(this.#plan.port, {
          onResponse: (status) => this.#recordResponse(lane, status),
          onRequestFailed: () =>
            this.#finishRequest(lane, (dueMs) => this.#recorder.countFailure(dueMs, this.#deps.nowMs(), false)),
          onIdle: () => {
            this.#sendNextRequest(lane);
            if (this.#idleSlots.size === this.#plan.connections) opened.resolve();
          },
        }),
        request: noRequest,
      };
      this.#slots.push(lane);
    }
    try {
      await opened.promise;
    } catch (fault) {
      for (const { connection } of this.#slots) connection.end();
      throw fault;
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Sends the requests whose scheduled time has passed. Without a free connection, requests are queued; if the queue is full, they fail.
   */
  #sendDueRequests(): number {
    const nowMs = this.#deps.nowMs();
    while (this.#next < this.#dueMs.length && this.#dueMs[this.#next]! <= nowMs) {
      const request = this.#next++;
      const dueMs = this.#dueMs[request]!;
      this.#startCpuUsageMeasurement(dueMs);
      this.#recorder.countScheduledRequest(dueMs, nowMs);
      const lane = this.#takeIdleConnection();
      if (lane !== undefined) this.#send(lane, request);
      else if (this.#queue.length < this.#plan.queueMax) this.#queue.push(request);
      else this.#recorder.countFailure(dueMs, nowMs, false);
    }
    if (this.#next === this.#dueMs.length) this.#stopScheduling(this.#plan.singleUse ? nowMs : this.#endMs);
    this.#resolveWhenAllAnswered();
    return this.#next;
  }

  #takeIdleConnection(): ConnectionSlot | undefined {
    for (const lane of this.#idleSlots) {
      this.#idleSlots.delete(lane);
      if (lane.connection.isIdle) return lane;
    }
    return undefined;
  }

  #sendNextRequest(lane: ConnectionSlot): void {
    if (this.#started && this.#plan.perSecond === null) {
      this.#sendNextAfterResponse(lane);
      return;
    }
    const request = this.#queue.shift();
    if (request !== undefined) this.#send(lane, request);
    else {
      this.#idleSlots.delete(lane);
      this.#idleSlots.add(lane);
    }
  }

  /** Sends the next request of a closed loop. */
  #sendNextAfterResponse(lane: ConnectionSlot): void {
    const nowMs = this.#deps.nowMs();
    const usedUp = this.#plan.singleUse && this.#next === this.#requests.length;
    if (nowMs >= this.#endMs || usedUp) {
      this.#stopScheduling(nowMs);
      this.#resolveWhenAllAnswered();
      return;
    }
    if (!lane.connection.isIdle) return;
    this.#startCpuUsageMeasurement(nowMs);
    this.#dueMs.push(nowMs);
    this.#recorder.countScheduledRequest(nowMs, nowMs);
    this.#send(lane, this.#next++);
  }

  #send(lane: ConnectionSlot, request: number): void {
    lane.request = request;
    this.#inFlight++;
    lane.connection.send(this.#requests[request % this.#requests.length]!);
  }

  #recordResponse(lane: ConnectionSlot, status: number): void {
    this.#finishRequest(lane, (dueMs) => this.#recorder.countResponse(dueMs, this.#deps.nowMs(), status));
  }

  #finishRequest(lane: ConnectionSlot, how: (dueMs: number) => void): void {
    const { request } = lane;
    lane.request = noRequest;
    this.#inFlight--;
    how(this.#dueMs[request]!);
    this.#resolveWhenAllAnswered();
  }

  #failOverdueRequests(): void {
    const nowMs = this.#deps.nowMs();
    const isLate = (request: number) => this.#dueMs[request]! + this.#plan.deadlineMs <= nowMs;
    while (this.#queue.length > 0 && isLate(this.#queue[0]!)) {
      this.#recorder.countFailure(this.#dueMs[this.#queue.shift()!]!, nowMs, true);
    }
    for (const lane of this.#slots) {
      const { request } = lane;
      if (request === noRequest || !isLate(request)) continue;
      this.#finishRequest(lane, (dueMs) => this.#recorder.countFailure(dueMs, nowMs, true));
      lane.connection.abandonPendingRequest();
    }
    this.#resolveWhenAllAnswered();
  }

  #resolveWhenAllAnswered(): void {
    const allDue =
      this.#plan.perSecond === null
        ? this.#deps.nowMs() >= this.#endMs
        : this.#next === this.#dueMs.length && this.#queue.length === 0;
    if (allDue && this.#inFlight === 0) this.#done.resolve();
  }

  #startCpuUsageMeasurement(dueMs: number): void {
    if (this.#loopAtStart !== null || dueMs < this.#countedFromMs) return;
    this.#loopAtStart = performance.eventLoopUtilization();
  }

  /** Ends the schedule; afterwards the client only waits for replies. */
  #stopScheduling(endMs: number): void {
    if (this.#busy !== null) return;
    this.#endMs = Math.min(this.#endMs, endMs);
    this.#recorder.setMeasurementEnd(this.#endMs);
    this.#busy = performance.eventLoopUtilization(this.#loopAtStart ?? undefined).utilization;
  }
}
