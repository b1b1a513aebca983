import { join } from 'node:path';
import type { BenchContext } from '../bench-part.ts';
import { writeRequests } from '../load/prepared-request.ts';
import type { CurvePoint } from '../result/bench-result.ts';
import { type Curve, type CurveScale, targetUtilization } from './curve.ts';
import { firstLookRequests } from './curve-requests.ts';
import { measureLoadPoint, measureSaturation, rateAtShare } from './load-point.ts';
import { type SeededServiceOptions, withSeededService } from './seeded-service.ts';

/** Description of the load, for the titles of its curves. */
const firstLookTitle = `GET /marketplace, ranking not yet known, at ${Math.round(targetUtilization * 100)} % of each point's own saturation`;

/** Number of API keys, so that the load of each key stays below its rate limit. */
const firstLookKeys = 1_000;

/**
 * Starts a service with live sessions that were never shown offers. Requests offers for each session once: first in a closed
 * loop, which also builds the shared indexes of the catalog, then in an open loop.
 */
async function measureFirstLook(
  context: BenchContext,
  scale: CurveScale,
  x: number,
  service: Pick<SeededServiceOptions, 'catalogOffers' | 'settings'>,
): Promise<CurvePoint> {
  const { saturationSeconds, singleUseSeconds: seconds, singleUseRatePerSecondMax, warmUpSeconds } = scale;
  const closedCount = Math.ceil(singleUseRatePerSecondMax * saturationSeconds * 1.5);
  const count = closedCount + Math.ceil(singleUseRatePerSecondMax * targetUtilization * (warmUpSeconds + seconds));
  const wanted = { ...service, keys: firstLookKeys, sessions: { count, fields: 'all', sampleSize: count } } as const;
  return withSeededService(context, wanted, async ({ target, sessions, folder }) => {
    const looks = firstLookRequests(sessions);
    const requestsFile = join(folder, 'requests');
    await writeRequests(requestsFile, looks.slice(0, closedCount));
    const saturation = await measureSaturation(context.sendOpenLoop, target, {
      requestsFile,
      singleUse: true,
      seconds: saturationSeconds,
    });
    await writeRequests(requestsFile, looks.slice(closedCount));
    const perSecond = rateAtShare(targetUtilization, saturation, seconds);
    return measureLoadPoint(context.sendOpenLoop, target, x, perSecond, {
      requestsFile,
      singleUse: true,
      warmUpSeconds,
      seconds,
    });
  });
}

/** Measures the time to rank offers for different catalog sizes. */
export const catalogSizeCurve: Curve = {
  name: 'catalog-size',
  description: 'time to rank by catalog size',
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

/** Catalog size, the same as in the route scenario without cached rankings. */
const matcherThreadsCatalogOffers = 200;

/** Measures the time to rank offers for different numbers of matching threads; 0 threads means the main thread. */
export const matcherThreadsCurve: Curve = {
  name: 'matcher-threads',
  description: 'time to rank by number of matching threads',
  measure: async (context, scale) => {
    const points: CurvePoint[] = [];
    for (const threads of scale.matcherThreads) {
      context.progress.step(`matcher-threads: ${threads}`);
      const settings = { SVC_MATCHER_THREADS: String(threads) };
      points.push(
        await measureFirstLook(context, scale, threads, { catalogOffers: matcherThreadsCatalogOffers, settings }),
      );
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
