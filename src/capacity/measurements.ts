import type { RouteName } from './traffic-mix.ts';

/** What a plan needs of a result of the benchmarks, for the box they ran on. */
export interface Measurements {
  readonly box: MeasuredBox;
  /** CPU time of one request of each route, in microseconds, measured under full load. */
  readonly costs: Readonly<Partial<Record<RouteName, RouteCost>>>;
  readonly curve: LoadCurve;
  readonly memory: SessionMemory;
  /** Bytes on disk that each session leaves for good; null where nobody measured it. */
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
  /** Of the minute before the run began. */
  readonly loadAverage: number;
  /** Keys that the measured requests were spread over. */
  readonly keys: number;
}

export interface RouteCost {
  readonly socketThreadMicros: number;
  /** All threads of the server, that one among them. */
  readonly allThreadsMicros: number;
}

/** Latency against the rate offered, by one kind of load sent on schedule. */
export interface LoadCurve {
  readonly title: string;
  /** By rising rate; at least one. */
  readonly points: readonly LoadPoint[];
}

export interface LoadPoint {
  readonly offeredPerSecond: number;
  readonly achievedPerSecond: number;
  readonly p99Ms: number;
  /** CPU time of one request, all threads, in microseconds. */
  readonly cpuMicros: number;
  /** Whether the client was at its end here, so that the figures tell of it as much as of the server. */
  readonly clientSaturated: boolean;
}

export interface SessionMemory {
  readonly residentBytesPerSession: number;
  /** Resident memory of a server without sessions. */
  readonly baseResidentMiB: number;
  /** The most live sessions that were measured, and the most the service takes by its own reckoning. */
  readonly sessionsMeasured: number;
  readonly sessionsMax: number;
}

/** Below this share of what was offered, the rest was refused, failed, or still waiting when the load was over. */
const achievedShareMin = 0.98;

/** The highest rate at which p99 stays within an SLO. */
export interface SustainedRate {
  /** Requests a second of the curve's own load; 0 where not even its first point stays within the SLO. */
  readonly perSecond: number;
  /** Whether the curve ends within the SLO: it might go further, which nobody measured. */
  readonly isEndOfCurve: boolean;
}

/**
 * Where p99 crosses the SLO for the first time, on straight lines between the points. Latency rises ever more steeply, so
 * the crossing is rather put too low than too high. A point at which the server did not keep up ends the curve before it.
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
 * What one request costs where the server is as busy as it can be, as it was when the routes were measured: the least that one
 * cost on the curve. Where refusals, which cost less, made it so, the plan is the more careful for it. Microseconds, all threads.
 */
export function costAtFullLoad({ points }: LoadCurve): number {
  return Math.min(...points.map(({ cpuMicros }) => cpuMicros));
}

/** A figure at a rate, on straight lines between the points; beyond either end it is that end's. */
export function interpolateAt(points: LoadCurve['points'], perSecond: number, figure: 'p99Ms' | 'cpuMicros'): number {
  const next = points.findIndex(({ offeredPerSecond }) => offeredPerSecond >= perSecond);
  if (next < 0) return points.at(-1)![figure];
  if (next === 0) return points[0]![figure];
  return interpolate(points[next - 1]!, points[next]!, 'offeredPerSecond', figure, perSecond);
}

/** Whether the client gave out before the curve had come to this rate, so that the server might have gone on. */
export function wasClientSaturated({ points }: LoadCurve, perSecond: number): boolean {
  const next = points.findIndex(({ offeredPerSecond }) => offeredPerSecond > perSecond);
  return points.slice(0, next < 0 ? points.length : next + 1).some(({ clientSaturated }) => clientSaturated);
}

function reachedOfferedRate({ offeredPerSecond, achievedPerSecond }: LoadPoint): boolean {
  return achievedPerSecond >= achievedShareMin * offeredPerSecond;
}

type PointMetric = Exclude<keyof LoadPoint, 'clientSaturated'>;

/** What `wanted` is where `known` is `value`, on the straight line through two points. */
function interpolate(from: LoadPoint, to: LoadPoint, known: PointMetric, wanted: PointMetric, value: number): number {
  const share = (value - from[known]) / (to[known] - from[known]);
  return from[wanted] + share * (to[wanted] - from[wanted]);
}
