import type { BenchContext } from '../bench-part.ts';
import type { CurvePoint } from '../result/bench-result.ts';
import { type CurveScale, createCurvePart, targetUtilization } from './curve.ts';
import { uncachedOfferRequests } from './curve-requests.ts';
import { measureLoadPoint, measureSaturation, rateAtSaturationShare } from './load-point.ts';
import { type SeededServiceOptions, withSeededService } from './seeded-service.ts';

/** Text that describes the load in the titles of its curves. */
const firstLookTitle = `GET /marketplace, ranking not yet known, at ${Math.round(targetUtilization * 100)} % of each point's own saturation`;

/** Number of API keys, so that the load of each key stays below its rate limit. */
const firstLookKeys = 1_000;

/** Catalog size for the curve of matching threads; equal to the size in the route scenario without cached rankings. */
const matcherThreadsCatalogOffers = 200;

/**
 * Curves of the time to rank offers, by catalog size and by number of matching threads. With 0 threads, the main thread ranks the offers.
 */
export const uncachedOfferCurves = [
  createCurvePart('catalog-size', 'time to rank by catalog size', async (context, scale) => ({
    title: firstLookTitle,
    xLabel: 'offers in the catalog',
    logarithmic: true,
    points: await measureUncachedOffers(context, scale, scale.catalogOffers, (catalogOffers) => ({ catalogOffers })),
  })),
  createCurvePart('matcher-threads', 'time to rank by number of matching threads', async (context, scale) => ({
    title: `${firstLookTitle}; ${matcherThreadsCatalogOffers} offers`,
    xLabel: 'matcher threads',
    logarithmic: false,
    points: await measureUncachedOffers(context, scale, scale.matcherThreads, (threads) => ({
      catalogOffers: matcherThreadsCatalogOffers,
      settings: { SVC_MATCHER_THREADS: String(threads) },
    })),
  })),
] as const;

/**
 * Starts a service per value, with live sessions whose offers were never requested. Requests the offers of each session
 * once: first in a closed loop, which also builds the shared indexes of the catalog, then in an open loop.
 */
async function measureUncachedOffers(
  context: BenchContext,
  scale: CurveScale,
  values: readonly number[],
  service: (value: number) => Pick<SeededServiceOptions, 'catalogOffers' | 'settings'>,
): Promise<CurvePoint[]> {
  const { saturationSeconds, singleUseSeconds: seconds, singleUseRatePerSecondMax, warmUpSeconds } = scale;
  const closedCount = Math.ceil(singleUseRatePerSecondMax * saturationSeconds * 1.5);
  const count = closedCount + Math.ceil(singleUseRatePerSecondMax * targetUtilization * (warmUpSeconds + seconds));
  const points: CurvePoint[] = [];
  for (const x of values) {
    context.progress.showStep(`first look at offers: ${JSON.stringify(service(x))}`);
    const wanted = { keys: firstLookKeys, sessions: { count, fields: 'all', sampleSize: count } } as const;
    await withSeededService(context, { ...service(x), ...wanted }, async ({ target, sessions, sender }) => {
      const looks = uncachedOfferRequests(sessions);
      const requests = looks.slice(0, closedCount);
      const closedLoop = { requests, singleUse: true, seconds: saturationSeconds };
      const perSecond = rateAtSaturationShare(
        targetUtilization,
        await measureSaturation(sender, target, closedLoop),
        seconds,
      );
      const load = { requests: looks.slice(closedCount), singleUse: true, warmUpSeconds, seconds };
      points.push(await measureLoadPoint(sender, target, x, perSecond, load));
    });
  }
  return points;
}
