import {
  type CapacityMeasurements,
  findCpuMicrosPerRequest,
  findSustainedRate,
  interpolateMetric,
  type MeasuredMachine,
  minCompletedRequestShare,
  type SustainedRate,
  wasClientSaturated,
} from './measurements.ts';
import {
  CapacityPlanError,
  calculateLoadPerKey,
  computePerRoute,
  type RouteName,
  routeNames,
  type TrafficMix,
  type TrafficPerKey,
} from './traffic-mix.ts';

/** A machine counts as idle before a benchmark run if its load average is at most this number of cores. */
const idleLoadAverageMax = 0.5;

export interface CapacityPlanRequest {
  readonly keys: number;
  readonly sloP99Ms: number;
  /** Share of each resource that the plan leaves unused, from 0 (inclusive) to 1 (exclusive). */
  readonly headroom: number;
}

export type ResourceName = 'socket-thread' | 'all-cores' | 'latency' | 'session-ceiling' | 'memory';

/** Server resource that limits the number of API keys. */
export interface ServerResource {
  readonly name: ResourceName;
  readonly unit: 'requests/s' | 'live sessions';
  /** Capacity of one server, including the headroom. */
  readonly capacity: number;
  /** Requests per second or number of live sessions of one API key, depending on `unit`. */
  readonly perKey: number;
  /** Number of API keys that one server can serve with its capacity minus the headroom; may be fractional. */
  readonly keys: number;
}

export interface CapacityPlan {
  readonly request: CapacityPlanRequest;
  readonly box: MeasuredMachine;
  readonly key: TrafficPerKey;
  /** Resources of one server, in a fixed order. */
  readonly resources: readonly ServerResource[];
  /** Resource that limits the number of API keys the most. */
  readonly bottleneck: ResourceName;
  readonly keysPerBox: number;
  /** Number of API keys that one server can serve if the sessions of a day start evenly over the day. */
  readonly keysPerBoxIfSpread: number;
  readonly boxes: number;
  /** Load of the server with the most API keys: a server with `keysPerBox` keys, or with all keys if one server can serve them. */
  readonly load: ServerLoad;
  readonly predicted: Prediction;
  /** Warnings about the accuracy of the plan, one sentence each. */
  readonly caveats: readonly string[];
}

interface ServerLoad {
  readonly keys: number;
  readonly requestsPerSecond: number;
  readonly ratesPerSecond: Readonly<Record<RouteName, number>>;
  readonly sessionsPerDay: number;
  readonly liveSessions: number;
}

interface Prediction {
  readonly p99Ms: number;
  /** Predicted CPU use of the socket thread, in cores. */
  readonly socketThreadCores: number;
  readonly allThreadsCores: number;
  /** Resident memory of a server without sessions; each live session adds `memoryBytesPerSession`. */
  readonly baseMemoryMiB: number;
  readonly memoryBytesPerSession: number;
  readonly memoryMiB: number;
  /** Disk space that new sessions use per day, in bytes; null if disk use was not measured. */
  readonly diskBytesPerDay: number | null;
}

/**
 * Computes the bottleneck and the number of servers for the requested number of API keys. Throws `CapacityPlanError` if one server cannot serve
 * a single API key, or cannot meet the latency target at any rate.
 */
export function planCapacity(
  measurements: CapacityMeasurements,
  mix: TrafficMix,
  request: CapacityPlanRequest,
): CapacityPlan {
  const key = calculateLoadPerKey(mix);
  const cost = computeMixCost(measurements, key);
  const sustained = findSustainedRate(measurements.curve, request.sloP99Ms);
  assertLatencyTargetReachable(measurements, request, sustained);
  const resources = computeResources(measurements, { key, cost, sustained, request });
  const { name: bottleneck, keys: most } = resources.reduce((least, one) => (one.keys < least.keys ? one : least));
  const keysPerBox = Math.floor(most);
  if (keysPerBox < 1)
    throw new CapacityPlanError(
      `one server cannot serve a single API key with this traffic mix; bottleneck: ${bottleneck}`,
    );
  const boxes = Math.ceil(request.keys / keysPerBox);
  const load = computeServerLoad(key, Math.min(request.keys, keysPerBox));
  const spreadKey = calculateLoadPerKey({ ...mix, livePeakFactor: 1 });
  const ifSpread = computeResources(measurements, { key: spreadKey, cost, sustained, request });
  return {
    request,
    box: measurements.box,
    key,
    resources,
    bottleneck,
    keysPerBox,
    keysPerBoxIfSpread: Math.floor(Math.min(...ifSpread.map(({ keys }) => keys))),
    boxes,
    load,
    predicted: predictServer(measurements, cost, load),
    caveats: listCaveats(measurements, { request, sustained, load }),
  };
}

/**
 * Average CPU time per request of a traffic mix under full load, in microseconds. `curveRequests` is the number of requests of the latency
 * benchmark that need as much CPU time as one request of the traffic mix.
 */
interface MixCost {
  readonly socketThreadMicros: number;
  readonly allThreadsMicros: number;
  readonly curveRequests: number;
}

function computeMixCost(
  { costs, curve }: CapacityMeasurements,
  { ratesPerSecond, requestsPerSecond }: TrafficPerKey,
): MixCost {
  let socketThread = 0;
  let allThreads = 0;
  for (const name of routeNames) {
    if (ratesPerSecond[name] === 0) continue;
    const cost = costs[name];
    if (cost === undefined)
      throw new Error(`measurements lack the route ${name}; the measurements belong to another traffic mix`);
    socketThread += cost.socketThreadMicros * ratesPerSecond[name];
    allThreads += cost.allThreadsMicros * ratesPerSecond[name];
  }
  const allThreadsMicros = allThreads / requestsPerSecond;
  return {
    socketThreadMicros: socketThread / requestsPerSecond,
    allThreadsMicros,
    curveRequests: allThreadsMicros / findCpuMicrosPerRequest(curve),
  };
}

function assertLatencyTargetReachable(
  { curve }: CapacityMeasurements,
  { sloP99Ms }: CapacityPlanRequest,
  { perSecond }: SustainedRate,
): void {
  if (perSecond > 0) return;
  const { offeredPerSecond, p99Ms } = curve.points[0]!;
  throw new CapacityPlanError(
    `p99 exceeds ${sloP99Ms} ms at every measured rate: p99 is ${p99Ms.toFixed(1)} ms at the lowest measured rate, ${Math.round(offeredPerSecond)} requests/s`,
  );
}

interface PlanInputs {
  readonly key: TrafficPerKey;
  readonly cost: MixCost;
  readonly sustained: SustainedRate;
  readonly request: CapacityPlanRequest;
}

function computeResources(
  { box, memory }: CapacityMeasurements,
  { key, cost, sustained, request }: PlanInputs,
): ServerResource[] {
  const resource = (name: ResourceName, unit: ServerResource['unit'], capacity: number): ServerResource => {
    const perKey = unit === 'requests/s' ? key.requestsPerSecond : key.liveSessions;
    return { name, unit, capacity, perKey, keys: (capacity * (1 - request.headroom)) / perKey };
  };
  const availableBytes = (box.memoryMiB - memory.baseResidentMiB) * 2 ** 20;
  return [
    resource('socket-thread', 'requests/s', 1e6 / cost.socketThreadMicros),
    resource('all-cores', 'requests/s', (box.cores * 1e6) / cost.allThreadsMicros),
    resource('latency', 'requests/s', sustained.perSecond / cost.curveRequests),
    resource('session-ceiling', 'live sessions', memory.sessionsMax),
    resource('memory', 'live sessions', Math.max(0, availableBytes) / memory.residentBytesPerSession),
  ];
}

function computeServerLoad(key: TrafficPerKey, keys: number): ServerLoad {
  return {
    keys,
    requestsPerSecond: keys * key.requestsPerSecond,
    ratesPerSecond: computePerRoute((name) => keys * key.ratesPerSecond[name]),
    sessionsPerDay: keys * key.sessionsPerDay,
    liveSessions: keys * key.liveSessions,
  };
}

function predictServer(
  { curve, memory, diskBytesPerSession }: CapacityMeasurements,
  cost: MixCost,
  load: ServerLoad,
): Prediction {
  const curveRate = load.requestsPerSecond * cost.curveRequests;
  // At a lower load, a server handles fewer requests per event-loop turn, so each request costs more CPU time. The latency curve contains
  // the CPU time per request at each rate.
  const costFactor = interpolateMetric(curve.points, curveRate, 'cpuMicros') / findCpuMicrosPerRequest(curve);
  const cores = (micros: number) => (load.requestsPerSecond * micros * costFactor) / 1e6;
  return {
    p99Ms: interpolateMetric(curve.points, curveRate, 'p99Ms'),
    socketThreadCores: cores(cost.socketThreadMicros),
    allThreadsCores: cores(cost.allThreadsMicros),
    baseMemoryMiB: memory.baseResidentMiB,
    memoryBytesPerSession: memory.residentBytesPerSession,
    memoryMiB: memory.baseResidentMiB + (load.liveSessions * memory.residentBytesPerSession) / 2 ** 20,
    diskBytesPerDay: diskBytesPerSession === null ? null : diskBytesPerSession * load.sessionsPerDay,
  };
}

function listCaveats(
  { box, curve, memory }: CapacityMeasurements,
  { request, sustained, load }: Pick<PlanInputs, 'request' | 'sustained'> & Pick<CapacityPlan, 'load'>,
): string[] {
  const caveats: string[] = [];
  const number = (value: number) => Math.floor(value).toLocaleString('en-US');
  if (box.quick) caveats.push('The result is from a quick run, whose measurements are only indicative.');
  if (box.loadAverage > idleLoadAverageMax) {
    caveats.push(
      `The machine was not idle during the measurement (load average ${box.loadAverage.toFixed(1)}): the measured latency is too high, and the plan too conservative.`,
    );
  }
  if (sustained.isEndOfCurve) {
    caveats.push(
      `The latency curve ends at ${number(sustained.perSecond)} requests/s with p99 within ${request.sloP99Ms} ms; the plan does not assume higher rates.`,
    );
  }
  if (wasClientSaturated(curve, sustained.perSecond)) {
    caveats.push('The client that measured the curve was saturated around this rate: the server may sustain more.');
  }
  if (load.liveSessions > memory.sessionsMeasured) {
    caveats.push(
      `A server has ${number(load.liveSessions)} live sessions; memory was measured with up to ${number(memory.sessionsMeasured)}, and latency with far fewer.`,
    );
  }
  if (load.keys > box.keys) {
    caveats.push(`A server has ${number(load.keys)} keys; the routes were measured with ${number(box.keys)}.`);
  }
  caveats.push(
    `Latency is that of "${curve.title}", scaled to the mix by CPU time. Effects between the requests of a mix were not measured.`,
  );
  return caveats;
}

/** Load of a capacity check for one server, passed as JSON to bench/capacity-check/main.ts. */
export interface CapacityCheckRequest {
  readonly ratesPerSecond: CapacityPlan['load']['ratesPerSecond'];
  readonly seconds: number;
  /** Number of sessions to create before the load starts. */
  readonly initialSessions: number;
}

/** Results of a load test that checks a capacity plan. CPU and memory use are null if the operating system does not report them. */
export interface CapacityCheckMeasurements {
  readonly seconds: number;
  readonly offeredPerSecond: number;
  /** Number of responses per second with an expected status. */
  readonly achievedPerSecond: number;
  /** Number of responses with status 429 or 503. */
  readonly refused: number;
  /** Number of requests that failed or got an unexpected status, not including 429 and 503. */
  readonly failed: number;
  /** 99th percentile of the latency in milliseconds, measured from the scheduled time of each request. */
  readonly p99Ms: number;
  readonly socketThreadCores: number | null;
  readonly allThreadsCores: number | null;
  /** Resident memory at the end of the load test. The plan predicts `memoryMiB`, the memory use after a garbage collection. */
  readonly residentMiB: number | null;
  readonly memoryMiB: number | null;
  /** Number of live sessions at the end of the load test. */
  readonly liveSessions: number;
  readonly keys: number;
  /**
   * Whether the benchmark client was saturated. If the benchmark client was saturated, the measured latency includes delays of the client.
   */
  readonly clientSaturated: boolean;
  /** Share of the machine's CPU time during the load that no process used, from 0 to 1. */
  readonly machineIdleShare: number;
}

export interface CapacityCheckRow {
  readonly figure: 'rate' | 'p99' | 'socket-thread' | 'all-threads' | 'memory';
  readonly unit: 'requests/s' | 'ms' | 'cores' | 'MiB';
  readonly predicted: number;
  readonly measured: number | null;
  /** Difference between prediction and measurement, in percent of the measurement. */
  readonly errorPercent: number | null;
}

export interface CapacityCheckResult {
  readonly rows: readonly CapacityCheckRow[];
  readonly measurements: CapacityCheckMeasurements;
  /**
   * `met` if no request was refused or failed, and p99 was within the target. `inconclusive` if the target was missed while the client or
   * the machine was saturated, so that the cause may not be the server.
   */
  readonly verdict: 'met' | 'missed' | 'inconclusive';
}

/** A machine with a smaller idle share of its CPU time is saturated: the client and the server wait for each other. */
const machineIdleShareMin = 0.05;

/** Compares the predictions of a plan with measurements. The predicted memory is computed for the measured number of live sessions. */
export function compareMeasurementWithPlan(
  { request, load, predicted }: CapacityPlan,
  measurements: CapacityCheckMeasurements,
): CapacityCheckResult {
  const { p99Ms, achievedPerSecond, offeredPerSecond, refused, failed } = measurements;
  const isMet =
    refused === 0 &&
    failed === 0 &&
    p99Ms <= request.sloP99Ms &&
    achievedPerSecond >= minCompletedRequestShare * offeredPerSecond;
  const isStarved = measurements.clientSaturated || measurements.machineIdleShare < machineIdleShareMin;
  const memoryMiB = predicted.baseMemoryMiB + (measurements.liveSessions * predicted.memoryBytesPerSession) / 2 ** 20;
  return {
    rows: [
      toCheckRow('rate', 'requests/s', load.requestsPerSecond, achievedPerSecond),
      toCheckRow('p99', 'ms', predicted.p99Ms, p99Ms),
      toCheckRow('socket-thread', 'cores', predicted.socketThreadCores, measurements.socketThreadCores),
      toCheckRow('all-threads', 'cores', predicted.allThreadsCores, measurements.allThreadsCores),
      toCheckRow('memory', 'MiB', memoryMiB, measurements.memoryMiB),
    ],
    measurements,
    verdict: isMet ? 'met' : isStarved ? 'inconclusive' : 'missed',
  };
}

function toCheckRow(
  figure: CapacityCheckRow['figure'],
  unit: CapacityCheckRow['unit'],
  predicted: number,
  measured: number | null,
): CapacityCheckRow {
  const isMeasured = measured !== null && measured > 0;
  return { figure, unit, predicted, measured, errorPercent: isMeasured ? (predicted / measured - 1) * 100 : null };
}
