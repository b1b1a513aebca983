import type { CapacityMeasurements } from './benchmark-result.ts';
import { minCompletedRequestShare } from './load-curve.ts';
import { type CapacityPlan, predictMemoryMiB } from './plan.ts';
import type { TrafficLoad } from './traffic-mix.ts';

/** Load of a capacity check for one server, passed as JSON to bench/capacity-check/main.ts. */
export interface CapacityCheckRequest {
  readonly ratesPerSecond: TrafficLoad['rates_per_second'];
  readonly seconds: number;
  /** Number of sessions to create before the load starts. */
  readonly initialSessions: number;
}

/** Load of a capacity check, and conditions during the load. */
interface CheckConditions {
  readonly seconds: number;
  readonly keys: number;
  /** Number of live sessions at the end of the load. */
  readonly live_sessions: number;
  /** Resident memory at the end of the load; null if the operating system does not report it. */
  readonly resident_mib: number | null;
  readonly offered_per_second: number;
  /** Number of responses with status 429 or 503. */
  readonly refused: number;
  /** Number of requests that failed or got an unexpected status, not including 429 and 503. */
  readonly failed: number;
  /** Whether the benchmark client was saturated, so that the measured latency includes delays of the client. */
  readonly client_saturated: boolean;
  /** Share of the machine's CPU time during the load that no process used, from 0 to 1. */
  readonly machine_idle_share: number;
}

/** Figures that a check compares, with their units. */
const figureUnits = {
  /** Number of responses per second with an expected status. */
  rate: 'requests/s',
  /** 99th percentile of the latency, measured from the scheduled time of each request. */
  p99: 'ms',
  'socket-thread': 'cores',
  'all-threads': 'cores',
  /** Resident memory after a garbage collection. */
  memory: 'MiB',
} as const;
export type CheckFigure = keyof typeof figureUnits;

/** Result of a load test that checks a capacity plan. CPU and memory use are null if the operating system does not report them. */
export interface CapacityCheckMeasurements extends CheckConditions {
  readonly measured: Readonly<Record<'rate' | 'p99', number> & Record<CheckFigure, number | null>>;
}

/** Comparison of a capacity plan with measurements; with `--json`, the command prints these members. */
export interface CapacityCheck extends CheckConditions {
  /**
   * `met` if no request was refused or failed, and p99 was within the target. `inconclusive` if the target was missed while the client or
   * the machine was saturated, so that the cause may not be the server.
   */
  readonly verdict: 'met' | 'missed' | 'inconclusive';
  readonly carried: boolean;
  readonly figures: readonly {
    readonly figure: CheckFigure;
    readonly unit: (typeof figureUnits)[CheckFigure];
    readonly predicted: number;
    readonly measured: number | null;
    /** Difference between prediction and measurement, in percent of the measurement. */
    readonly error_percent: number | null;
  }[];
}

/** A machine with a smaller idle share of its CPU time is saturated: the client and the server wait for each other. */
const machineIdleShareMin = 0.05;

/** Compares the predictions of a plan with measurements. The predicted memory is computed for the measured number of live sessions. */
export function compareMeasurementWithPlan(
  { slo_p99_ms: sloMs, load, predicted }: CapacityPlan,
  { memory }: CapacityMeasurements,
  { measured, ...conditions }: CapacityCheckMeasurements,
): CapacityCheck {
  const predictions: Readonly<Record<CheckFigure, number>> = {
    rate: load.requests_per_second,
    p99: predicted.p99_ms,
    'socket-thread': predicted.socket_thread_cores,
    'all-threads': predicted.all_threads_cores,
    memory: predictMemoryMiB(memory, conditions.live_sessions),
  };
  const isMet =
    conditions.refused === 0 &&
    conditions.failed === 0 &&
    measured.p99 <= sloMs &&
    measured.rate >= minCompletedRequestShare * conditions.offered_per_second;
  const isStarved = conditions.client_saturated || conditions.machine_idle_share < machineIdleShareMin;
  return {
    verdict: isMet ? 'met' : isStarved ? 'inconclusive' : 'missed',
    carried: isMet,
    ...conditions,
    figures: (Object.keys(figureUnits) as CheckFigure[]).map((figure) => {
      const [before, after] = [predictions[figure], measured[figure]];
      const error = after !== null && after > 0 ? (before / after - 1) * 100 : null;
      return { figure, unit: figureUnits[figure], predicted: before, measured: after, error_percent: error };
    }),
  };
}
