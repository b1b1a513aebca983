import type { BenchContext } from '../bench-part.ts';

/** Settings of the curves: the durations of the loads, and the request rates and numbers of live sessions to measure. */
export interface LoadCurveSettings {
  /** Duration of the closed loop that measures saturation. */
  readonly saturationSeconds: number;
  /** Duration of the load at each point. */
  readonly seconds: number;
  /** Duration of the warm-up before each open-loop load; requests in the warm-up are not measured. */
  readonly warmUpSeconds: number;
  /** Rates of the offered-load curve, as shares of the saturation rate. */
  readonly saturationShares: readonly number[];
  /**
   * Maximum number of points at rates above the highest rate in `saturationShares`. The curve gets another point only if the service kept
   * up with the load at the previous point.
   */
  readonly extraLoads: number;
  /**
   * Maximum request rate for measurements of the baseline server `bare`, as a share of the saturation rate. Near the saturation rate, most
   * of the latency is waiting time in queues.
   */
  readonly bareServerShareMax: number;
  readonly liveSessions: readonly number[];
}

const fullCurveSettings: LoadCurveSettings = {
  saturationSeconds: 2,
  seconds: 6,
  warmUpSeconds: 1,
  saturationShares: [0.05, 0.1, 0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.15],
  extraLoads: 4,
  bareServerShareMax: 0.8,
  liveSessions: [1_000, 10_000, 100_000, 1_000_000],
};

const quickCurveSettings: LoadCurveSettings = {
  saturationSeconds: 0.2,
  seconds: 0.3,
  warmUpSeconds: 0.1,
  saturationShares: [0.05, 0.5, 1.2],
  extraLoads: 0,
  bareServerShareMax: 0,
  liveSessions: [1_000, 10_000],
};

export function getLoadCurveSettings({ quick, scale }: Pick<BenchContext, 'quick' | 'scale'>): LoadCurveSettings {
  const curves = quick ? quickCurveSettings : fullCurveSettings;
  return { ...curves, liveSessions: curves.liveSessions.filter((count) => count <= scale.sessionsMax) };
}
