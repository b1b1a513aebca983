import type { RouteName } from './traffic-mix.ts';

/** Measurements of one server that a plan uses. */
export interface Measurements {
  readonly box: MeasuredBox;
  /** CPU time per request of each route in microseconds, under full load. */
  readonly costs: Readonly<Partial<Record<RouteName, RouteCost>>>;
  readonly curve: LoadCurve;
  readonly memory: SessionMemory;
  /** Bytes on disk that each session adds permanently; null if not measured. */
  readonly diskBytesPerSession: number | null;
}

export interface MeasuredBox {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryMiB: number;
  /** ISO 8601. */
  readonly measuredAt: string;
  readonly commit: string | null;
  readonly quick: boolean;
  /** Load average of the minute before the run. */
  readonly loadAverage: number;
  /** Number of keys that sent the measured requests. */
  readonly keys: number;
}

export interface RouteCost {
  readonly socketThreadMicros: number;
  /** All threads of the server, including the socket thread. */
  readonly allThreadsMicros: number;
}

/** Latency over the offered rate, for one kind of load sent on a schedule. */
export interface LoadCurve {
  readonly title: string;
  /** Ordered by rate; at least one. */
  readonly points: readonly LoadPoint[];
}

export interface LoadPoint {
  readonly offeredPerSecond: number;
  readonly achievedPerSecond: number;
  readonly p99Ms: number;
  /** CPU time per request of all threads, in microseconds. */
  readonly cpuMicros: number;
  /** Whether the client was saturated, so that the latency includes delays of the client. */
  readonly clientSaturated: boolean;
}

export interface SessionMemory {
  readonly residentBytesPerSession: number;
  /** Resident memory of a server without sessions. */
  readonly baseResidentMiB: number;
  /** Largest number of live sessions that was measured, and the limit of the service. */
  readonly sessionsMeasured: number;
  readonly sessionsMax: number;
}

/** Below this share of the offered rate, requests were refused, failed, or still waiting at the end of the load. */
const achievedShareMin = 0.98;

/** Highest rate at which p99 stays within a target. */
export interface SustainedRate {
  /** Requests per second of the load of the curve; 0 if even its first point misses the target. */
  readonly perSecond: number;
  /** Whether the whole curve is within the target, so that higher rates may be possible. */
  readonly isEndOfCurve: boolean;
}

/**
 * Finds the rate at which p99 first exceeds the target, with linear interpolation between the points. The real curve is convex, so the
 * result is rather too low than too high. A point at which the server did not keep up ends the curve before it.
 */
export function findSustainedRate({ points }: LoadCurve, sloP99Ms: number): SustainedRate {
  let last: LoadPoint | undefined;
  for (const point of points) {
    if (!reachedOfferedRate(point)) return { perSecond: last?.offeredPerSecond ?? 0, isEndOfCurve: false };
    if (point.p99Ms > sloP99Ms) {
      const perSecond = last === undefined ? 0 : interpolate(last, point, 'p99Ms', 'offeredPerSecond', sloP99Ms);
      return { perSecond, isEndOfCurve: false };
    }
    last = point;
  }
  return { perSecond: last?.offeredPerSecond ?? 0, isEndOfCurve: true };
}

/**
 * Returns the lowest CPU time per request on the curve, in microseconds of all threads: the cost under full load, at which the routes
 * were measured too. Refused requests may lower it, which makes the plan more conservative.
 */
export function costAtFullLoad({ points }: LoadCurve): number {
  return Math.min(...points.map(({ cpuMicros }) => cpuMicros));
}

/** Interpolates a metric at a rate. Beyond the ends of the curve, returns the metric of that end. */
export function interpolateAt(points: LoadCurve['points'], perSecond: number, metric: 'p99Ms' | 'cpuMicros'): number {
  const next = points.findIndex(({ offeredPerSecond }) => offeredPerSecond >= perSecond);
  if (next < 0) return points.at(-1)![metric];
  if (next === 0) return points[0]![metric];
  return interpolate(points[next - 1]!, points[next]!, 'offeredPerSecond', metric, perSecond);
}

/** Whether the client was saturated at or below the first point above this rate, so that the server might sustain more. */
export function wasClientSaturated({ points }: LoadCurve, perSecond: number): boolean {
  const next = points.findIndex(({ offeredPerSecond }) => offeredPerSecond > perSecond);
  return points.slice(0, next < 0 ? points.length : next + 1).some(({ clientSaturated }) => clientSaturated);
}

function reachedOfferedRate({ offeredPerSecond, achievedPerSecond }: LoadPoint): boolean {
  return achievedPerSecond >= achievedShareMin * offeredPerSecond;
}

type PointMetric = Exclude<keyof LoadPoint, 'clientSaturated'>;

/** Value of metric `y` where metric `x` is `value`, on the line through two points. */
function interpolate(from: LoadPoint, to: LoadPoint, x: PointMetric, y: PointMetric, value: number): number {
  const share = (value - from[x]) / (to[x] - from[x]);
  return from[y] + share * (to[y] - from[y]);
}
