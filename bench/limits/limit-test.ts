import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { msPerDay } from '../../src/domain/calendar.ts';
import type { BenchContext } from '../bench-part.ts';
import { autocannonClient } from '../load/autocannon-client.ts';
import { type PreparedRequest, writeRequestFile } from '../load/prepared-request.ts';
import type { LimitLoad } from '../result/bench-result.ts';
import type { BorrowerSession } from '../scenarios/requests.ts';
import type { ServiceTarget } from '../target/service-target.ts';
import {
  admittedStatus,
  computeRetryTime,
  type ExpectedLimit,
  findLimitProblem,
  type LimitedLoad,
  limitHeaders,
  refusedStatus,
} from './check-load.ts';

/** Limits of a key, as members of `POST /keys`. */
export type KeyLimits = Partial<Record<'requests_per_minute' | 'analytics_per_minute' | 'sessions_per_day', number>>;

/** Limit, and the requests that count toward it. */
export interface LimitScenario extends ExpectedLimit {
  readonly name: keyof KeyLimits;
  readonly route: string;
  /** Limits of the tested keys that differ from the default limits. */
  readonly keyLimits: KeyLimits;
  buildRequest(session: BorrowerSession): PreparedRequest;
}

/** Resources that all scenarios share. */
export interface LimitRun extends Pick<BenchContext, 'scale' | 'progress'> {
  readonly service: ServiceTarget;
  readonly folder: string;
  /** Session of a key with the highest limits. Other keys of the account can use the session. */
  readonly session: BorrowerSession;
}

export async function createKey(service: ServiceTarget, limits: KeyLimits): Promise<string> {
  const body = { account: 'bench', vertical: 'personal-loans', mode: 'live', ...limits };
  return ((await service.postToOperations('/keys', body)) as { key: string }).key;
}

/** Number of requests that a load sends in addition to the limit. */
const excessRequests = 512;
const loadSecondsMax = 50;
/** Start of a load before the end of a window, long enough for the load to end before the window ends on a busy machine. */
const windowEndLeadMs = 5_000;
/** Time to wait after the end of a window, because timers can fire early. */
const windowEndMarginMs = 100;

async function sleepUntil(wallMs: number): Promise<void> {
  await sleep(Math.max(0, wallMs - Date.now()));
}

/** Sends loads to one limit, before and after the end of a window. Throws if the limit is not exact. */
export class LimitTest {
  readonly loads: LimitLoad[] = [];
  readonly scenario: LimitScenario;
  readonly #run: LimitRun;
  #firstHalf: LimitedLoad | null = null;
  #secondHalf: LimitedLoad | null = null;
  #key = '';
  /** Time of the service's clock minus the time of this machine's clock. */
  #clockAheadMs = 0;

  constructor(scenario: LimitScenario, run: LimitRun) {
    this.scenario = scenario;
    this.#run = run;
  }

  /** Exceeds the limit of an unused key, and uses half of the limit of another key. */
  async beginWindow(): Promise<void> {
    const { limit, keyLimits } = this.scenario;
    this.#key = await createKey(this.#run.service, keyLimits);
    await this.#sendLoad('unused', limit + excessRequests, limit);
    this.#key = await createKey(this.#run.service, keyLimits);
    this.#firstHalf = await this.#sendLoad('unused', Math.floor(limit / 2), limit);
  }

  /** Exceeds the limit of the key that has used half of its limit. */
  async fillWindow(): Promise<void> {
    const { limit } = this.scenario;
    const available = limit - this.#firstHalf!.replies.length;
    this.#secondHalf = await this.#sendLoad('partly used', limit + excessRequests, available, this.#firstHalf!);
  }

  /** Sends requests while all requests of the minute still count. A day has no such load, because the test clock moves only by days. */
  async approachWindowEnd(): Promise<void> {
    const { windowMs } = this.scenario;
    if (windowMs === msPerDay) return;
    await sleepUntil(this.#firstHalf!.startedMs + windowMs - windowEndLeadMs);
    await this.#sendLoad('used up', excessRequests, 0, this.#firstHalf!);
  }

  /** Exceeds the limit again: after midnight, or when the first half of the requests no longer counts. */
  async crossWindowEnd(): Promise<void> {
    const { limit, windowMs } = this.scenario;
    if (windowMs === msPerDay) {
      await this.#run.service.postToOperations('/test-clock', { advance_days: 1 });
      this.#clockAheadMs += msPerDay;
      await this.#sendLoad('ended', limit + excessRequests, limit);
    } else {
      await sleepUntil(this.#firstHalf!.endedMs + windowMs + windowEndMarginMs);
      await this.#sendLoad('ended', limit + excessRequests, this.#firstHalf!.replies.length, this.#secondHalf!);
    }
  }

  /** Sends requests with the current key. `oldest` is the load with the oldest requests that count; by default, the sent load. */
  async #sendLoad(
    window: LimitLoad['window'],
    count: number,
    available: number,
    oldest?: LimitedLoad,
  ): Promise<LimitedLoad> {
    const { service, folder, session, scale, progress } = this.#run;
    const { name, buildRequest } = this.scenario;
    progress.printProgress(`limits: ${name}: ${count} requests, window ${window}`);
    const connections = Math.min(scale.connections, count);
    // autocannon sends the same number of requests over each connection.
    const sent = count - (count % connections);
    const requestsFile = join(folder, 'requests');
    await writeRequestFile(requestsFile, new Array(sent).fill(buildRequest({ ...session, key: this.#key })));
    const startedMs = Date.now() + this.#clockAheadMs;
    const { replies = [], unexpected } = await autocannonClient.run({
      port: service.port,
      requestsFile,
      connections,
      seconds: loadSecondsMax,
      singleUse: true,
      expectedStatus: admittedStatus,
      alsoExpected: [refusedStatus],
      recordHeaders: limitHeaders,
    });
    const load = { startedMs, endedMs: Date.now() + this.#clockAheadMs, available, replies };
    const retryTime = computeRetryTime(this.scenario, oldest ?? load);
    const where = `${name}, window ${window}`;
    if (load.endedMs >= retryTime.fromMs) throw new Error(`${where}: the window ended during the load; run again`);
    const problem =
      unexpected > 0 || replies.length < sent
        ? `some of ${sent} requests were neither admitted nor refused`
        : findLimitProblem(this.scenario, load, retryTime);
    if (problem !== null) throw new Error(`the limit is not exact: ${where}: ${problem}`);
    this.loads.push({ window, connections, sent, admitted: Math.min(available, sent) });
    return load;
  }
}
