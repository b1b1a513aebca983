import type { CapacityPlan } from './plan.ts';

/** Load of a capacity check for one server, passed as JSON to bench/capacity-check/main.ts. */
export interface CheckRequest {
  readonly ratesPerSecond: CapacityPlan['load']['ratesPerSecond'];
  readonly seconds: number;
  /** Number of sessions to create before the load starts. */
  readonly initialSessions: number;
}

/** Measurements of a capacity check. CPU and memory are null if the system does not report them. */
export interface CheckMeasurements {
  readonly seconds: number;
  readonly offeredPerSecond: number;
  /** Number of expected responses per second. */
  readonly achievedPerSecond: number;
  /** Number of responses with status 429 or 503. */
  readonly refused: number;
  /** Number of other unexpected responses and of errors. */
  readonly failed: number;
  /** 99th percentile of the latency in milliseconds, measured from the scheduled time of each request. */
  readonly p99Ms: number;
  readonly socketThreadCores: number | null;
  readonly allThreadsCores: number | null;
  /** Resident memory at the end of the load, and after garbage collection. The plan predicts the second value. */
  readonly residentMiB: number | null;
  readonly memoryMiB: number | null;
  /** Number of live sessions at the end of the load. */
  readonly liveSessions: number;
  readonly keys: number;
  /** Whether the client was saturated, so that the latency includes delays of the client. */
  readonly clientSaturated: boolean;
}

export interface CheckRow {
  readonly figure: 'rate' | 'p99' | 'socket-thread' | 'all-threads' | 'memory';
  readonly unit: 'requests/s' | 'ms' | 'cores' | 'MiB';
  readonly predicted: number;
  readonly measured: number | null;
  /** Difference between prediction and measurement, in percent of the measurement. */
  readonly errorPercent: number | null;
}

export interface CheckResult {
  readonly rows: readonly CheckRow[];
  readonly measurements: CheckMeasurements;
  /** Whether the server met the target: no request was refused or failed, and p99 was within the target. */
  readonly carried: boolean;
}

/** Minimum share of expected responses. The other requests may be in progress at the end of the load. */
const achievedShareMin = 0.98;

/** Compares a plan with measurements. The memory prediction uses the measured number of live sessions. */
export function compareWithPlan(
  { request, load, predicted }: CapacityPlan,
  measurements: CheckMeasurements,
): CheckResult {
  const { p99Ms, achievedPerSecond, offeredPerSecond, refused, failed } = measurements;
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
    carried:
      refused === 0 &&
      failed === 0 &&
      p99Ms <= request.sloP99Ms &&
      achievedPerSecond >= achievedShareMin * offeredPerSecond,
  };
}

function toCheckRow(
  figure: CheckRow['figure'],
  unit: CheckRow['unit'],
  predicted: number,
  measured: number | null,
): CheckRow {
  const isMeasured = measured !== null && measured > 0;
  return { figure, unit, predicted, measured, errorPercent: isMeasured ? (predicted / measured - 1) * 100 : null };
}
