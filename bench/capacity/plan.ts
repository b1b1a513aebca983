import type { CapacityMeasurements } from './benchmark-result.ts';
import { CapacityPlanError } from './input-file.ts';
import {
  findCpuMicrosPerRequest,
  findSustainedRate,
  interpolateMetric,
  type SustainedRate,
  wasClientSaturated,
} from './load-curve.ts';
import {
  calculateLoadPerKey,
  computePerRoute,
  routeNames,
  type TrafficLoad,
  type TrafficMix,
  type TrafficPerKey,
} from './traffic-mix.ts';

/** A machine counts as idle before a benchmark run if its load average is at most this number of cores. */
const idleLoadAverageMax = 0.5;

export interface CapacityTarget {
  readonly keys: number;
  readonly slo_p99_ms: number;
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
  readonly per_key: number;
  /** Number of API keys that one server can serve with its capacity minus the headroom; may be fractional. */
  readonly keys: number;
}

/** Capacity plan; with `--json`, the command prints these members. Rates are per second, memory sizes are in MiB, CPU times are in cores. */
export interface CapacityPlan extends CapacityTarget {
  /** Number of servers. */
  readonly boxes: number;
  readonly keys_per_box: number;
  /** Number of API keys that one server can serve if the sessions of a day start evenly over the day. */
  readonly keys_per_box_if_spread: number;
  /** Resource that limits the number of API keys the most. */
  readonly bottleneck: ResourceName;
  /** Resources of one server, in a fixed order. `used_share` is the share that `load` uses. */
  readonly resources: readonly (ServerResource & { readonly used_share: number })[];
  readonly key: TrafficPerKey;
  readonly box: CapacityMeasurements['box'];
  /** Load of the server with the most API keys: a server with `keys_per_box` keys, or with all keys if one server can serve them. */
  readonly load: TrafficLoad & { readonly keys: number };
  readonly predicted: {
    readonly p99_ms: number;
    readonly socket_thread_cores: number;
    readonly all_threads_cores: number;
    readonly memory_mib: number;
    /** Disk space that new sessions use per day; null if disk use was not measured. */
    readonly disk_bytes_per_day: number | null;
  };
  /** Warnings about the accuracy of the plan, one sentence each. */
  readonly beyond_measured: readonly string[];
}

/**
 * Computes the bottleneck and the number of servers for the requested number of API keys. Throws `CapacityPlanError` if one server cannot serve
 * a single API key, or cannot meet the latency target at any rate.
 */
export function planCapacity(
  measurements: CapacityMeasurements,
  mix: TrafficMix,
  target: CapacityTarget,
): CapacityPlan {
  const key = calculateLoadPerKey(mix);
  const cost = computeMixCost(measurements, key);
  const sustained = findSustainedRate(measurements.curve, target.slo_p99_ms);
  assertLatencyTargetReachable(measurements, target, sustained);
  const resourcesFor = (load: TrafficPerKey) => computeResources(measurements, { load, cost, sustained, target });
  const resources = resourcesFor(key);
  const { name: bottleneck, keys: most } = resources.reduce((least, one) => (one.keys < least.keys ? one : least));
  const keysPerBox = Math.floor(most);
  if (keysPerBox < 1)
    throw new CapacityPlanError(
      `one server cannot serve a single API key with this traffic mix; bottleneck: ${bottleneck}`,
    );
  const load = computeServerLoad(key, Math.min(target.keys, keysPerBox));
  const ifSpread = resourcesFor(calculateLoadPerKey({ ...mix, livePeakFactor: 1 }));
  return {
    keys: target.keys,
    slo_p99_ms: target.slo_p99_ms,
    headroom: target.headroom,
    boxes: Math.ceil(target.keys / keysPerBox),
    keys_per_box: keysPerBox,
    keys_per_box_if_spread: Math.floor(Math.min(...ifSpread.map(({ keys }) => keys))),
    bottleneck,
    resources: resources.map((one) => ({ ...one, used_share: (load.keys * one.per_key) / one.capacity })),
    key,
    box: measurements.box,
    load,
    predicted: predictServer(measurements, cost, load),
    beyond_measured: listCaveats(measurements, { target, sustained, load }),
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
  { rates_per_second: rates, requests_per_second: total }: TrafficLoad,
): MixCost {
  let socketThread = 0;
  let allThreads = 0;
  for (const name of routeNames) {
    if (rates[name] === 0) continue;
    const cost = costs[name];
    if (cost === undefined)
      throw new Error(`measurements lack the route ${name}; the measurements belong to another traffic mix`);
    socketThread += cost.socketThreadMicros * rates[name];
    allThreads += cost.allThreadsMicros * rates[name];
  }
  const allThreadsMicros = allThreads / total;
  return {
    socketThreadMicros: socketThread / total,
    allThreadsMicros,
    curveRequests: allThreadsMicros / findCpuMicrosPerRequest(curve),
  };
}

function assertLatencyTargetReachable(
  { curve }: CapacityMeasurements,
  { slo_p99_ms: sloMs }: CapacityTarget,
  { perSecond }: SustainedRate,
): void {
  if (perSecond > 0) return;
  const { offeredPerSecond, p99Ms } = curve.points[0]!;
  throw new CapacityPlanError(
    `p99 exceeds ${sloMs} ms at every measured rate: p99 is ${p99Ms.toFixed(1)} ms at the lowest measured rate, ${Math.round(offeredPerSecond)} requests/s`,
  );
}

function computeResources(
  { box, memory }: CapacityMeasurements,
  {
    load,
    cost,
    sustained,
    target,
  }: Readonly<{
    load: TrafficLoad;
    cost: MixCost;
    sustained: SustainedRate;
    target: CapacityTarget;
  }>,
): ServerResource[] {
  const resource = (name: ResourceName, unit: ServerResource['unit'], capacity: number): ServerResource => {
    const perKey = unit === 'requests/s' ? load.requests_per_second : load.live_sessions;
    return { name, unit, capacity, per_key: perKey, keys: (capacity * (1 - target.headroom)) / perKey };
  };
  const availableBytes = (box.memory_mib - memory.baseResidentMiB) * 2 ** 20;
  return [
    resource('socket-thread', 'requests/s', 1e6 / cost.socketThreadMicros),
    resource('all-cores', 'requests/s', (box.cores * 1e6) / cost.allThreadsMicros),
    resource('latency', 'requests/s', sustained.perSecond / cost.curveRequests),
    resource('session-ceiling', 'live sessions', memory.sessionsMax),
    resource('memory', 'live sessions', Math.max(0, availableBytes) / memory.residentBytesPerSession),
  ];
}

function computeServerLoad(key: TrafficLoad, keys: number): CapacityPlan['load'] {
  return {
    keys,
    requests_per_second: keys * key.requests_per_second,
    rates_per_second: computePerRoute((name) => keys * key.rates_per_second[name]),
    sessions_per_day: keys * key.sessions_per_day,
    live_sessions: keys * key.live_sessions,
  };
}

function predictServer(
  { curve, memory, diskBytesPerSession }: CapacityMeasurements,
  cost: MixCost,
  load: TrafficLoad,
): CapacityPlan['predicted'] {
  const curveRate = load.requests_per_second * cost.curveRequests;
  // At a lower load, a server handles fewer requests per event-loop turn, so each request costs more CPU time. The latency curve contains
  // the CPU time per request at each rate.
  const costFactor = interpolateMetric(curve.points, curveRate, 'cpuMicros') / findCpuMicrosPerRequest(curve);
  const cores = (micros: number) => (load.requests_per_second * micros * costFactor) / 1e6;
  return {
    p99_ms: interpolateMetric(curve.points, curveRate, 'p99Ms'),
    socket_thread_cores: cores(cost.socketThreadMicros),
    all_threads_cores: cores(cost.allThreadsMicros),
    memory_mib: predictMemoryMiB(memory, load.live_sessions),
    disk_bytes_per_day: diskBytesPerSession === null ? null : diskBytesPerSession * load.sessions_per_day,
  };
}

/** Predicts the resident memory of a server with live sessions. */
export function predictMemoryMiB(memory: CapacityMeasurements['memory'], liveSessions: number): number {
  return memory.baseResidentMiB + (liveSessions * memory.residentBytesPerSession) / 2 ** 20;
}

function listCaveats(
  { box, keys, loadAverage, curve, memory }: CapacityMeasurements,
  { target, sustained, load }: Pick<CapacityPlan, 'load'> & { target: CapacityTarget; sustained: SustainedRate },
): string[] {
  const number = (value: number) => Math.floor(value).toLocaleString('en-US');
  const caveats: readonly (readonly [applies: boolean, sentence: string])[] = [
    [box.quick, 'The result is from a quick run, whose measurements are only indicative.'],
    [
      loadAverage > idleLoadAverageMax,
      `The machine was not idle during the measurement (load average ${loadAverage.toFixed(1)}): the measured latency is too high, and the plan too conservative.`,
    ],
    [
      sustained.isEndOfCurve,
      `The latency curve ends at ${number(sustained.perSecond)} requests/s with p99 within ${target.slo_p99_ms} ms; the plan does not assume higher rates.`,
    ],
    [
      wasClientSaturated(curve, sustained.perSecond),
      'The client that measured the curve was saturated around this rate: the server may sustain more.',
    ],
    [
      load.live_sessions > memory.sessionsMeasured,
      `A server has ${number(load.live_sessions)} live sessions; memory was measured with up to ${number(memory.sessionsMeasured)}, and latency with far fewer.`,
    ],
    [load.keys > keys, `A server has ${number(load.keys)} keys; the routes were measured with ${number(keys)}.`],
    [
      true,
      `Latency is that of "${curve.title}", scaled to the mix by CPU time. Effects between the requests of a mix were not measured.`,
    ],
  ];
  return caveats.filter(([applies]) => applies).map(([, sentence]) => sentence);
}
