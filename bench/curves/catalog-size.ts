import type { CurvePoint } from '../result/curve-result.ts';
import type { Curve } from './curve.ts';
import { firstLookAbout, firstLookPoint } from './first-look-point.ts';

/** Rankings out of more and more offers. */
export const catalogSizeCurve: Curve = {
  name: 'catalog-size',
  about: 'rankings out of more and more offers',
  measure: async (context, scale) => {
    const points: CurvePoint[] = [];
    for (const catalogOffers of scale.catalogOffers) {
      context.progress.step(`catalog-size: ${catalogOffers} offers`);
      points.push(await firstLookPoint(context, scale, catalogOffers, { catalogOffers }));
    }
    const xLabel = 'offers in the catalog';
    return { curve: { name: 'catalog-size', title: firstLookAbout, xLabel, logarithmic: true, points } };
  },
};
