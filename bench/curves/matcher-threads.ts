import type { CurvePoint } from '../result/curve-result.ts';
import type { Curve } from './curve.ts';
import { firstLookTitle, measureFirstLook } from './first-look-point.ts';

/** As many as the scenario of unknown rankings has. */
const matcherThreadsCatalogOffers = 200;

/** Rankings by the thread that serves the sockets (0), and by more and more others. */
export const matcherThreadsCurve: Curve = {
  name: 'matcher-threads',
  description: 'rankings by more and more matcher threads',
  measure: async (context, scale) => {
    const points: CurvePoint[] = [];
    for (const threads of scale.matcherThreads) {
      context.progress.step(`matcher-threads: ${threads}`);
      const settings = { SVC_MATCHER_THREADS: String(threads) };
      points.push(await measureFirstLook(context, scale, threads, { catalogOffers: matcherThreadsCatalogOffers, settings }));
    }
    return {
      curve: {
        name: 'matcher-threads',
        title: `${firstLookTitle}; ${matcherThreadsCatalogOffers} offers`,
        xLabel: 'matcher threads',
        logarithmic: false,
        points,
      },
    };
  },
};
