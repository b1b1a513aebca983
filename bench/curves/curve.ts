import type { BenchContext, BenchScale } from '../bench-part.ts';
import type { CurveResult, MemoryResult } from '../result/bench-result.ts';

/** How large the curves of a run are. */
export interface CurveScale {
  /** Length of the closed loop that finds what a service can do, and of the load at each point. */
  readonly saturationSeconds: number;
  readonly seconds: number;
  /** The same where each request can be sent only once, and a session must have been written for it. */
  readonly singleUseSeconds: number;
  /** Of such a service sessions are written for so many answers a second; one that is faster ends its loads with the last session. */
  readonly singleUseRatePerSecondMax: number;
  /** Sent ahead of each load on its own schedule, and not counted. */
  readonly warmUpSeconds: number;
  /** Rates of the curve of offered load, as shares of saturation. */
  readonly saturationShares: readonly number[];
  /** Further points, each at a higher rate, while the service still keeps up: the closed loop may have found too little. */
  readonly extraLoads: number;
  /** Up to this share of saturation the bare server has the same load: beyond it the service's latency is that of a queue. */
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

/** One curve: what grows, and how it is measured at each point. */
export interface Curve {
  readonly name: CurveResult['name'];
  /** In a few words, for the help. */
  readonly description: string;
  measure(context: BenchContext, scale: CurveScale): Promise<CurveFindings>;
}

interface CurveFindings {
  readonly curve: CurveResult;
  /** From the curve whose services hold live sessions. */
  readonly memory?: MemoryResult | null;
}

/** Of the answers a second that a closed loop got: where a planner would run it, with room for the busiest minute. */
export const targetUtilization = 0.6;
