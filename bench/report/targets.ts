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
export function targetOutcomes(routes: readonly RouteResult[]): TargetOutcome[] {
  return routes.flatMap((route) =>
    route.targets.flatMap(({ over, ratio }) => {
      const measured = throughputRatios(route, over);
      if (measured === null) return [];
      return [{ route: route.name, over, target: ratio, reached: measured.median >= ratio }];
    }),
  );
}
