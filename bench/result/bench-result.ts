import type { CrossoverCell } from '../crossover/crossover.ts';
import type { HistoryFigure } from '../history/history.ts';
import type { Machine } from '../machine.ts';
import type { MicroResult } from '../micro/micro.ts';
import type { BenchScale } from '../scale.ts';
import type { CurveResult, MemoryResult } from './curve-result.ts';
import type { LimitResult } from './limit-result.ts';
import type { RouteResult } from './route-result.ts';

export const benchResultFormat = 2;

/** Everything one run of the benchmarks found: the file for machines, which report, gate and planner are made from. */
export interface BenchResult {
  readonly format: typeof benchResultFormat;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Whether it was short: its figures are indicative only. */
  readonly quick: boolean;
  /** The commit measured, with `+` behind it where files had been changed; null outside a checkout. */
  readonly commit: string | null;
  readonly machine: Machine;
  readonly scale: BenchScale;
  /** One for each part that was run; a part that was not run left its list empty. */
  readonly routes: readonly RouteResult[];
  readonly limits: readonly LimitResult[];
  readonly curves: readonly CurveResult[];
  readonly memory: MemoryResult | null;
  readonly micro: readonly MicroResult[];
  readonly crossover: readonly CrossoverCell[];
  readonly history: readonly HistoryFigure[];
}
