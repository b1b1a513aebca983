import type { BenchContext } from '../part.ts';
import type { CurveResult, MemoryResult } from '../result/curve-result.ts';
import type { CurveScale } from './curve-scale.ts';

/** One curve: what grows, and how it is measured at each point. */
export interface Curve {
  readonly name: CurveResult['name'];
  /** In a few words, for the help. */
  readonly description: string;
  measure(context: BenchContext, scale: CurveScale): Promise<CurveFindings>;
}

export interface CurveFindings {
  readonly curve: CurveResult;
  /** From the curve whose services hold live sessions. */
  readonly memory?: MemoryResult | null;
}

/** Of the answers a second that a closed loop got: where a planner would run it, with room for the busiest minute. */
export const targetUtilization = 0.6;
