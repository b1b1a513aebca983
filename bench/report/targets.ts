import type { BaselineKind } from '../result/measurement.ts';
import type { RouteResult } from '../result/route-result.ts';
import { throughputRatios } from './ratios.ts';

export interface TargetOutcome {
  readonly route: string;
  readonly over: BaselineKind;
  readonly target: number;
  readonly reached: boolean;
}

/** How each target stands whose baseline was measured: by the middle round. */
export function evaluateTargets(routes: readonly RouteResult[]): TargetOutcome[] {
  return selectDecidingRoutes(routes).flatMap((route) =>
    route.targets.flatMap(({ over, ratio }) => {
      const measured = throughputRatios(route, over);
      if (measured === null) return [];
      return [{ route: route.name, over, target: ratio, reached: measured.median >= ratio }];
    }),
  );
}

/**
 * Each route once, where it was measured with several clients: with one that did not give first itself, if there is any, and
 * of those with the last, which is the cheaper client.
 */
export function selectDecidingRoutes(routes: readonly RouteResult[]): RouteResult[] {
  return [...Map.groupBy(routes, ({ name }) => name).values()].map(
    (same) => same.findLast(({ clientSaturated }) => !clientSaturated) ?? same.at(-1)!,
  );
}
