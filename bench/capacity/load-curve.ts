import type { LoadCurve, LoadCurvePoint } from './benchmark-result.ts';

/** Minimum ratio of the achieved rate to the offered rate at which the server counts as sustaining the offered rate. */
export const minCompletedRequestShare = 0.98;

/** Highest request rate at which the p99 latency is within a target. */
export interface SustainedRate {
  /** Requests per second; 0 if the server misses the latency target even at the lowest measured rate. */
  readonly perSecond: number;
  /** Whether p99 is within the target even at the highest measured rate, so that the server may sustain higher rates. */
  readonly isEndOfCurve: boolean;
}

/**
 * Finds the rate at which the p99 latency first exceeds the target, by linear interpolation between the measured points. A latency curve is
 * convex, so linear interpolation underestimates the rate. Ignores the first rate that the server did not sustain, and all higher rates.
 */
export function findSustainedRate({ points }: LoadCurve, sloP99Ms: number): SustainedRate {
  let last: LoadCurvePoint | undefined;
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
 * Returns the lowest CPU time per request on the latency curve, in microseconds, for all threads. CPU time per request is lowest under full
 * load. The CPU time of each route was also measured under full load. Refused requests can make the returned CPU time too low; the plan
 * then contains more servers than necessary.
 */
export function findCpuMicrosPerRequest({ points }: LoadCurve): number {
  return Math.min(...points.map(({ cpuMicros }) => cpuMicros));
}

/** Interpolates a metric between the measured rates. For a rate outside this range, returns the metric at the nearest measured rate. */
export function interpolateMetric(
  points: LoadCurve['points'],
  perSecond: number,
  metric: 'p99Ms' | 'cpuMicros',
): number {
  const next = points.findIndex(({ offeredPerSecond }) => offeredPerSecond >= perSecond);
  if (next < 0) return points.at(-1)![metric];
  if (next === 0) return points[0]![metric];
  return interpolate(points[next - 1]!, points[next]!, 'offeredPerSecond', metric, perSecond);
}

/**
 * Whether the benchmark client was saturated at a measured rate up to `perSecond`, or at the next higher measured rate. If the benchmark
 * client was saturated, the server may sustain a higher rate than measured.
 */
export function wasClientSaturated({ points }: LoadCurve, perSecond: number): boolean {
  const next = points.findIndex(({ offeredPerSecond }) => offeredPerSecond > perSecond);
  return points.slice(0, next < 0 ? points.length : next + 1).some(({ clientSaturated }) => clientSaturated);
}

function reachedOfferedRate({ offeredPerSecond, achievedPerSecond }: LoadCurvePoint): boolean {
  return achievedPerSecond >= minCompletedRequestShare * offeredPerSecond;
}

type PointMetric = Exclude<keyof LoadCurvePoint, 'clientSaturated'>;

/** Interpolates linearly between two points: returns metric `y` at the point where metric `x` is `value`. */
function interpolate(from: LoadCurvePoint, to: LoadCurvePoint, x: PointMetric, y: PointMetric, value: number): number {
  const share = (value - from[x]) / (to[x] - from[x]);
  return from[y] + share * (to[y] - from[y]);
}
