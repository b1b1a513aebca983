import { CapacityError } from './capacity-error.ts';
import type { MeasuredBox, Measurements } from './measurements.ts';
import {
  costAtFullLoad,
  findSustainedRate,
  interpolateAt,
  type SustainedRate,
  wasClientSaturated,
} from './measurements.ts';
import { computeKeyLoad, type KeyLoad, type RouteName, routeNames, type TrafficMix } from './traffic-mix.ts';

/** Work of others, in cores, that no longer passes for a quiet machine. */
const idleLoadAverageMax = 0.5;

export interface PlanRequest {
  readonly keys: number;
  readonly sloP99Ms: number;
  /** The share of every capacity that is held back, from 0 to less than 1. */
  readonly headroom: number;
}

export type ResourceName = 'socket-thread' | 'all-cores' | 'latency' | 'session-ceiling' | 'memory';

/** One thing of a box that can run out. */
export interface Resource {
  readonly name: ResourceName;
  readonly unit: 'requests/s' | 'live sessions';
  /** All a box has of it, nothing held back. */
  readonly capacity: number;
  /** What one key takes of it. */
  readonly perKey: number;
  /** Keys it is enough for, after what is held back. Not whole. */
  readonly keys: number;
}

export interface CapacityPlan {
  readonly request: PlanRequest;
  readonly box: MeasuredBox;
  readonly key: KeyLoad;
  /** In a fixed order. */
  readonly resources: readonly Resource[];
  /** The resource that is enough for the fewest keys. */
  readonly bottleneck: ResourceName;
  readonly keysPerBox: number;
  readonly boxes: number;
  /** What the fullest of these boxes has to do. */
  readonly load: BoxLoad;
  readonly predicted: Prediction;
  /** What of this goes beyond what was measured, in whole sentences. */
  readonly caveats: readonly string[];
}

interface BoxLoad {
  readonly keys: number;
  readonly requestsPerSecond: number;
  readonly ratesPerSecond: Readonly<Record<RouteName, number>>;
  readonly sessionsPerDay: number;
  readonly liveSessions: number;
}

interface Prediction {
  readonly p99Ms: number;
  /** CPU seconds a second: 1 is one core used up. */
  readonly socketThreadCores: number;
  readonly allThreadsCores: number;
  /** Resident memory: of the empty server, and what each live session adds. */
  readonly baseMemoryMiB: number;
  readonly memoryBytesPerSession: number;
  readonly memoryMiB: number;
  /** What the disk fills by in a day; null where nobody measured it. */
  readonly diskBytesPerDay: number | null;
}

/** Works out how many boxes carry the keys of the question, and what gives first. Throws `CapacityError` where no number does. */
export function planCapacity(figures: Measurements, mix: TrafficMix, request: PlanRequest): CapacityPlan {
  const key = computeKeyLoad(mix);
  const cost = computeMixCost(figures, key);
  const sustained = findSustainedRate(figures.curve, request.sloP99Ms);
  assertSustainable(figures, request, sustained);
  const resources = computeResources(figures, { key, cost, sustained, question: request });
  const { name: bottleneck, keys: most } = resources.reduce((least, one) => (one.keys < least.keys ? one : least));
  const keysPerBox = Math.floor(most);
  if (keysPerBox < 1)
    throw new CapacityError(`one box does not carry a single key of this mix: ${bottleneck} gives first`);
  const boxes = Math.ceil(request.keys / keysPerBox);
  const load = computeBoxLoad(key, Math.ceil(request.keys / boxes));
  return {
    request,
    box: figures.box,
    key,
    resources,
    bottleneck,
    keysPerBox,
    boxes,
    load,
    predicted: predictBox(figures, cost, load),
    caveats: listCaveats(figures, mix, { question: request, sustained, resources, load }),
  };
}

/** CPU time of the mean request of a mix under full load, in microseconds, and how many of the curve's own it is. */
interface MixCost {
  readonly socketThreadMicros: number;
  readonly allThreadsMicros: number;
  readonly curveRequests: number;
}

function computeMixCost({ costs, curve }: Measurements, { ratesPerSecond, requestsPerSecond }: KeyLoad): MixCost {
  let socketThread = 0;
  let allThreads = 0;
  for (const name of routeNames) {
    if (ratesPerSecond[name] === 0) continue;
    const cost = costs[name];
    if (cost === undefined) throw new Error(`the figures were read for another mix: they lack ${name}`);
    socketThread += cost.socketThreadMicros * ratesPerSecond[name];
    allThreads += cost.allThreadsMicros * ratesPerSecond[name];
  }
  const allThreadsMicros = allThreads / requestsPerSecond;
  return {
    socketThreadMicros: socketThread / requestsPerSecond,
    allThreadsMicros,
    curveRequests: allThreadsMicros / costAtFullLoad(curve),
  };
}

function assertSustainable({ curve }: Measurements, { sloP99Ms }: PlanRequest, { perSecond }: SustainedRate): void {
  if (perSecond > 0) return;
  const { offeredPerSecond, p99Ms } = curve.points[0]!;
  throw new CapacityError(
    `no rate that was measured keeps p99 within ${sloP99Ms} ms: the lowest, ${Math.round(offeredPerSecond)} requests/s, has ${p99Ms.toFixed(1)} ms`,
  );
}

interface PlanInputs {
  readonly key: KeyLoad;
  readonly cost: MixCost;
  readonly sustained: SustainedRate;
  readonly question: PlanRequest;
}

function computeResources({ box, memory }: Measurements, { key, cost, sustained, question }: PlanInputs): Resource[] {
  const resource = (name: ResourceName, unit: Resource['unit'], capacity: number): Resource => {
    const perKey = unit === 'requests/s' ? key.requestsPerSecond : key.liveSessions;
    return { name, unit, capacity, perKey, keys: (capacity * (1 - question.headroom)) / perKey };
  };
  const roomBytes = (box.memoryMiB - memory.baseResidentMiB) * 2 ** 20;
  return [
    resource('socket-thread', 'requests/s', 1e6 / cost.socketThreadMicros),
    resource('all-cores', 'requests/s', (box.cores * 1e6) / cost.allThreadsMicros),
    resource('latency', 'requests/s', sustained.perSecond / cost.curveRequests),
    resource('session-ceiling', 'live sessions', memory.sessionsMax),
    resource('memory', 'live sessions', Math.max(0, roomBytes) / memory.residentBytesPerSession),
  ];
}

function computeBoxLoad(key: KeyLoad, keys: number): BoxLoad {
  return {
    keys,
    requestsPerSecond: keys * key.requestsPerSecond,
    ratesPerSecond: Object.fromEntries(routeNames.map((name) => [name, keys * key.ratesPerSecond[name]])) as Record<
      RouteName,
      number
    >,
    sessionsPerDay: keys * key.sessionsPerDay,
    liveSessions: keys * key.liveSessions,
  };
}

function predictBox({ curve, memory, diskBytesPerSession }: Measurements, cost: MixCost, load: BoxLoad): Prediction {
  const onCurve = load.requestsPerSecond * cost.curveRequests;
  // A server that is not busy does less at once, and pays more for each request: as much more as it did on the curve.
  const dearer = interpolateAt(curve.points, onCurve, 'cpuMicros') / costAtFullLoad(curve);
  const cores = (micros: number) => (load.requestsPerSecond * micros * dearer) / 1e6;
  return {
    p99Ms: interpolateAt(curve.points, onCurve, 'p99Ms'),
    socketThreadCores: cores(cost.socketThreadMicros),
    allThreadsCores: cores(cost.allThreadsMicros),
    baseMemoryMiB: memory.baseResidentMiB,
    memoryBytesPerSession: memory.residentBytesPerSession,
    memoryMiB: memory.baseResidentMiB + (load.liveSessions * memory.residentBytesPerSession) / 2 ** 20,
    diskBytesPerDay: diskBytesPerSession === null ? null : diskBytesPerSession * load.sessionsPerDay,
  };
}

function listCaveats(
  { box, curve, memory }: Measurements,
  mix: TrafficMix,
  {
    question,
    sustained,
    resources,
    load,
  }: Pick<PlanInputs, 'question' | 'sustained'> & Pick<CapacityPlan, 'resources' | 'load'>,
): string[] {
  const beyond: string[] = [];
  const number = (value: number) => Math.floor(value).toLocaleString('en-US');
  if (box.quick) beyond.push('The result is of a quick run, whose figures are indicative only.');
  if (box.loadAverage > idleLoadAverageMax) {
    beyond.push(
      `Others were at work on the machine when it was measured (load average ${box.loadAverage.toFixed(1)}): latency is too high for that, and the plan too careful.`,
    );
  }
  if (sustained.isEndOfCurve) {
    beyond.push(
      `The curve of offered load ends at ${number(sustained.perSecond)} requests/s with p99 within ${question.sloP99Ms} ms; more was not measured and is not counted on.`,
    );
  }
  if (wasClientSaturated(curve, sustained.perSecond)) {
    beyond.push('The client that measured the curve was at its end around this rate: the server might carry more.');
  }
  if (load.liveSessions > memory.sessionsMeasured) {
    beyond.push(
      `A box has ${number(load.liveSessions)} live sessions; memory was measured with up to ${number(memory.sessionsMeasured)}, and latency under rising load with far fewer.`,
    );
  }
  if (load.keys > box.keys) {
    beyond.push(`A box has ${number(load.keys)} keys; the routes were measured with ${number(box.keys)}.`);
  }
  const worst = keysIfAllSessionsOverlap(mix, resources, question);
  if (worst < Math.floor(Math.min(...resources.map(({ keys }) => keys)))) {
    beyond.push(
      `Sessions are spread over the day as the mix says; were all of a day opened within ${mix.sessionHours} hours, a box would carry ${number(worst)} keys.`,
    );
  }
  beyond.push(
    `Latency is that of "${curve.title}", put in relation to the mix by CPU time. What other mixes do to each other was not measured.`,
  );
  return beyond;
}

/** Keys a box carries when all sessions of a day live at one time. */
function keysIfAllSessionsOverlap(mix: TrafficMix, resources: readonly Resource[], { headroom }: PlanRequest): number {
  const { liveSessions } = computeKeyLoad({ ...mix, livePeakFactor: 24 / mix.sessionHours });
  const held = resources.filter(({ unit }) => unit === 'live sessions').map(({ capacity }) => capacity);
  return Math.floor((Math.min(...held) * (1 - headroom)) / liveSessions);
}
