import type { CapacityPlan } from './plan.ts';

/** What the check of a plan puts on one server, as JSON: the benchmarks carry it out (bench/capacity-check/main.ts). */
export interface CheckRequest {
  readonly ratesPerSecond: CapacityPlan['load']['ratesPerSecond'];
  readonly seconds: number;
  /** Live sessions to be made before the load. */
  readonly initialSessions: number;
}

/** What they found. CPU and memory are null where the system does not tell them. */
export interface CheckMeasurements {
  readonly seconds: number;
  readonly offeredPerSecond: number;
  /** Answered as expected. */
  readonly achievedPerSecond: number;
  /** Answers 429 and 503, and everything else that was not expected. */
  readonly refused: number;
  readonly failed: number;
  /** From the moment a request was scheduled for. */
  readonly p99Ms: number;
  readonly socketThreadCores: number | null;
  readonly allThreadsCores: number | null;
  /** Resident memory when the load was over, and once its garbage had been collected: the latter is what was predicted. */
  readonly residentMiB: number | null;
  readonly memoryMiB: number | null;
  /** Live sessions at the end. */
  readonly liveSessions: number;
  readonly keys: number;
  /** Whether the client was at its end, so that the latency tells of it as much as of the server. */
  readonly clientSaturated: boolean;
}

export interface CheckRow {
  readonly figure: 'rate' | 'p99' | 'socket-thread' | 'all-threads' | 'memory';
  readonly unit: 'requests/s' | 'ms' | 'cores' | 'MiB';
  readonly predicted: number;
  readonly measured: number | null;
  /** How far the prediction lies above what was measured, in percent of the latter; negative: below. */
  readonly errorPercent: number | null;
}

export interface CheckResult {
  readonly rows: readonly CheckRow[];
  readonly measurements: CheckMeasurements;
  /** Whether the box carried the load: nothing refused or failed, and p99 within the SLO. */
  readonly carried: boolean;
}

/** The most answers that may be missing when the load is over: what was under way. */
const passedShareMin = 0.98;

/** Puts what was predicted beside what was measured; of memory, what was predicted for as many live sessions. */
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
      achievedPerSecond >= passedShareMin * offeredPerSecond,
  };
}

function toCheckRow(
  figure: CheckRow['figure'],
  unit: CheckRow['unit'],
  predicted: number,
  measured: number | null,
): CheckRow {
  const known = measured !== null && measured > 0;
  return { figure, unit, predicted, measured, errorPercent: known ? (predicted / measured - 1) * 100 : null };
}
