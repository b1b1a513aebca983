import type { BenchPart } from '../part.ts';
import { catalogSizeCurve } from './catalog-size.ts';
import type { Curve } from './curve.ts';
import { curveScale } from './curve-scale.ts';
import { keysCurve } from './keys.ts';
import { liveSessionsCurve } from './live-sessions.ts';
import { matcherThreadsCurve } from './matcher-threads.ts';
import { offeredLoadCurve } from './offered-load.ts';

/** The curves, each a part of its own: a run that fails late keeps those it has. */
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
