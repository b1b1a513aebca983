import type { BenchPart } from '../bench-part.ts';
import type { Curve } from './curve.ts';
import { curveScale } from './curve.ts';
import { catalogSizeCurve, matcherThreadsCurve } from './first-look-curves.ts';
import { liveSessionsCurve } from './live-sessions-curve.ts';
import { keysCurve, offeredLoadCurve } from './page-load-curves.ts';

/** Defines a part for each curve, so that a failed run keeps the results of earlier curves. */
export const curveParts: readonly BenchPart[] = [
  offeredLoadCurve,
  liveSessionsCurve,
  catalogSizeCurve,
  matcherThreadsCurve,
  keysCurve,
].map(toBenchPart);

function toBenchPart(curve: Curve): BenchPart {
  return {
    name: curve.name,
    group: 'curves',
    description: curve.description,
    measure: async (context) => {
      const { curve: result, memory } = await curve.measure(context, curveScale(context.quick, context.scale));
      return { curves: [result], ...(memory == null ? {} : { memory }) };
    },
  };
}
