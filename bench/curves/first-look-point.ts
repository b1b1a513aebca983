import { join } from 'node:path';
import { writeRequests } from '../load/prepared-request.ts';
import type { BenchContext } from '../part.ts';
import type { CurvePoint } from '../result/curve-result.ts';
import { targetUtilization } from './curve.ts';
import type { CurveScale } from './curve-scale.ts';
import { type SeededServiceOptions, withSeededService } from './filled-service.ts';
import { measureSaturation, measureLoadPoint } from './load-point.ts';
import { firstLookRequests } from './page-load.ts';
import { rateAtShare } from './rate-of.ts';

/** What the load consists of, for the titles of its curves. */
export const firstLookTitle = `GET /marketplace, ranking not yet known, at ${Math.round(targetUtilization * 100)} % of each point's own saturation`;

/** Enough that no key comes near its limit. */
const firstLookKeys = 1_000;

/**
 * A service of its own whose live sessions have never been shown offers, each of them asked once: first in a closed loop,
 * which also makes whatever the catalog's rankings share, then on schedule.
 */
export async function measureFirstLook(
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
    return measureLoadPoint(context.sendOpenLoop, target, x, perSecond, { requestsFile, once: true, warmUpSeconds, seconds });
  });
}
