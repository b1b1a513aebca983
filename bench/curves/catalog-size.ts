import type { CurvePoint } from '../result/curve-result.ts';
import type { Curve } from './curve.ts';
import { firstLookTitle, measureFirstLook } from './first-look-point.ts';

/** Rankings out of more and more offers. */
export const catalogSizeCurve: Curve = {
  name: 'catalog-size',
  description: 'rankings out of more and more offers',
  measure: async (context, scale) => {
    const points: CurvePoint[] = [];
    for (const catalogOffers of scale.catalogOffers) {
      context.progress.step(`catalog-size: ${catalogOffers} offers`);
      points.push(await measureFirstLook(context, scale, catalogOffers, { catalogOffers }));
    }
    const xLabel = 'offers in the catalog';
    return { curve: { name: 'catalog-size', title: firstLookTitle, xLabel, logarithmic: true, points } };
  },
};
