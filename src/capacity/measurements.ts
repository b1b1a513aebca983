import type { RouteName } from './traffic-mix.ts';

/** Measurements of one server, from which a plan is computed. */
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
  /** Time of the measurement in ISO 8601. */
  readonly measuredAt: string;
  readonly commit: string | null;
  readonly quick: boolean;
  /** Load average of the machine in the minute before the run, in cores. */
  readonly loadAverage: number;
  /** Number of API keys that sent the measured requests. */
  readonly keys: number;
}

export interface RouteCost {
  readonly socketThreadMicros: number;
  /** CPU time of all threads of the server, including the socket thread, in microseconds. */
  readonly allThreadsMicros: number;
}

/** Latency as a function of the offered rate, for one kind of load that is sent on a schedule. */
export interface LoadCurve {
  readonly title: string;
  /** Measured points, ordered by rate; at least one. */
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
  /** Largest measured number of live sessions, and the maximum that the service allows. */
  readonly sessionsMeasured: number;
  readonly sessionsMax: number;
}

/** Minimum share of the offered rate. Below this share, requests were refused, failed, or still waited at the end of the load. */
export const achievedShareMin = 0.98;

/** Highest rate at which p99 stays within a target. */
export interface SustainedRate {
  /** Requests per second of the curve's load; 0 if even the first point misses the target. */
  readonly perSecond: number;
  /** Whether every point of the curve is within the target, so that higher rates may be possible. */
  readonly isEndOfCurve: boolean;
}

/**
 * Finds the rate at which p99 first exceeds the target, with linear interpolation between the points. The real curve is convex, so the
 * result is more likely too low than too high. The curve ends before the first point at which the server did not keep up.
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
 * Returns the lowest CPU time per request on the curve, in microseconds of all threads. This is the cost under full load, which the cost
 * of the routes also refers to. Refused requests may make the value lower, which makes the plan more conservative.
 */
export function costAtFullLoad({ points }: LoadCurve): number {
  return Math.min(...points.map(({ cpuMicros }) => cpuMicros));
}

/** Interpolates a metric at a rate. For a rate beyond an end of the curve, returns the metric at that end. */
export function interpolateAt(points: LoadCurve['points'], perSecond: number, metric: 'p99Ms' | 'cpuMicros'): number {
  const next = points.findIndex(({ offeredPerSecond }) => offeredPerSecond >= perSecond);
  if (next < 0) return points.at(-1)![metric];
  if (next === 0) return points[0]![metric];
  return interpolate(points[next - 1]!, points[next]!, 'offeredPerSecond', metric, perSecond);
}

/** Whether the client was saturated at the first point above this rate or at a lower point. The server may then sustain more. */
export function wasClientSaturated({ points }: LoadCurve, perSecond: number): boolean {
  const next = points.findIndex(({ offeredPerSecond }) => offeredPerSecond > perSecond);
  return points.slice(0, next < 0 ? points.length : next + 1).some(({ clientSaturated }) => clientSaturated);
}

function reachedOfferedRate({ offeredPerSecond, achievedPerSecond }: LoadPoint): boolean {
  return achievedPerSecond >= achievedShareMin * offeredPerSecond;
}

type PointMetric = Exclude<keyof LoadPoint, 'clientSaturated'>;

/** Returns the value of metric `y` at the point where metric `x` is `value`, on the line through two points. */
function interpolate(from: LoadPoint, to: LoadPoint, x: PointMetric, y: PointMetric, value: number): number {
  const share = (value - from[x]) / (to[x] - from[x]);
  return from[y] + share * (to[y] - from[y]);
}
