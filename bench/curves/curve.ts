import type { BenchContext, BenchScale } from '../bench-part.ts';
import type { CurveResult, MemoryResult } from '../result/bench-result.ts';

/** Size of the curves of a run. */
export interface CurveScale {
  /** Duration of the closed loop that measures saturation, and of the load at each point. */
  readonly saturationSeconds: number;
  readonly seconds: number;
  /** Same for loads that send each request once. */
  readonly singleUseSeconds: number;
  /** Expected replies per second of such a load. A faster service ends its load early. */
  readonly singleUseRatePerSecondMax: number;
  /** Uncounted warm-up before each open-loop load. */
  readonly warmUpSeconds: number;
  /** Rates of the offered-load curve as shares of saturation. */
  readonly saturationShares: readonly number[];
  /** Additional points at higher rates, while the service keeps up. */
  readonly extraLoads: number;
  /** Up to this share of saturation, the bare server gets the same load. Above it, latency is dominated by queueing. */
  readonly bareServerShareMax: number;
  readonly liveSessions: readonly number[];
  readonly catalogOffers: readonly number[];
  readonly matcherThreads: readonly number[];
  readonly keys: readonly number[];
}

const fullCurveScale: CurveScale = {
  saturationSeconds: 2,
  seconds: 6,
  singleUseSeconds: 4,
  singleUseRatePerSecondMax: 30_000,
  warmUpSeconds: 1,
  saturationShares: [0.05, 0.1, 0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.15],
  extraLoads: 4,
  bareServerShareMax: 0.8,
  liveSessions: [1_000, 10_000, 100_000, 1_000_000],
  catalogOffers: [40, 200, 1_000, 10_000],
  matcherThreads: [0, 1, 2],
  keys: [1_000, 5_000, 20_000, 50_000],
};

const quickCurveScale: CurveScale = {
  saturationSeconds: 0.2,
  seconds: 0.3,
  singleUseSeconds: 0.3,
  singleUseRatePerSecondMax: 12_000,
  warmUpSeconds: 0.1,
  saturationShares: [0.05, 0.5, 1.2],
  extraLoads: 0,
  bareServerShareMax: 0,
  liveSessions: [1_000, 10_000],
  catalogOffers: [40, 400],
  matcherThreads: [0, 1],
  keys: [1_000, 5_000],
};

export function curveScale(isQuick: boolean, { liveSessions }: Pick<BenchScale, 'liveSessions'>): CurveScale {
  const scale = isQuick ? quickCurveScale : fullCurveScale;
  return { ...scale, liveSessions: scale.liveSessions.filter((count) => count <= liveSessions) };
}

/** A curve: the variable and the measurement at each point. */
export interface Curve {
  readonly name: CurveResult['name'];
  /** Short description for `--help`. */
  readonly description: string;
  measure(context: BenchContext, scale: CurveScale): Promise<CurveFindings>;
}

interface CurveFindings {
  readonly curve: CurveResult;
  /** Memory per session, from the live-sessions curve. */
  readonly memory?: MemoryResult | null;
}

/** Share of saturation at which a capacity plan runs the service, with headroom for peaks. */
export const targetUtilization = 0.6;
