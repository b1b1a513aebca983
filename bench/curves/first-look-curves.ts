import { join } from 'node:path';
import type { BenchContext } from '../bench-part.ts';
import { writeRequests } from '../load/prepared-request.ts';
import type { CurvePoint } from '../result/bench-result.ts';
import { type Curve, type CurveScale, targetUtilization } from './curve.ts';
import { firstLookRequests } from './curve-requests.ts';
import { measureLoadPoint, measureSaturation, rateAtShare } from './load-point.ts';
import { type SeededServiceOptions, withSeededService } from './seeded-service.ts';

/** What the load consists of, for the titles of its curves. */
const firstLookTitle = `GET /marketplace, ranking not yet known, at ${Math.round(targetUtilization * 100)} % of each point's own saturation`;

/** Enough that no key comes near its limit. */
const firstLookKeys = 1_000;

/**
 * A service of its own whose live sessions have never been shown offers, each of them asked once: first in a closed loop,
 * which also makes whatever the catalog's rankings share, then on schedule.
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
  const wanted = { ...service, keys: firstLookKeys, sessions: { count, fields: 'all', told: count } } as const;
  return withSeededService(context, wanted, async ({ target, sessions, folder }) => {
    const looks = firstLookRequests(sessions);
    const requestsFile = join(folder, 'requests');
    await writeRequests(requestsFile, looks.slice(0, closedCount));
    const saturation = await measureSaturation(context.sendOpenLoop, target, {
      requestsFile,
      once: true,
      seconds: saturationSeconds,
    });
    await writeRequests(requestsFile, looks.slice(closedCount));
    const perSecond = rateAtShare(targetUtilization, saturation, seconds);
    return measureLoadPoint(context.sendOpenLoop, target, x, perSecond, {
      requestsFile,
      once: true,
      warmUpSeconds,
      seconds,
    });
  });
}

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
