import { join } from 'node:path';
import { writeRequests } from '../load/prepared-request.ts';
import type { BenchContext } from '../part.ts';
import type { CurvePoint } from '../result/curve-result.ts';
import { plannedShare } from './curve.ts';
import type { CurveScale } from './curve-scale.ts';
import { type FilledServiceWanted, withFilledService } from './filled-service.ts';
import { findSaturation, loadPoint } from './load-point.ts';
import { firstLooks } from './page-load.ts';
import { rateOf } from './rate-of.ts';

/** What the load consists of, for the titles of its curves. */
export const firstLookAbout = `GET /marketplace, ranking not yet known, at ${Math.round(plannedShare * 100)} % of each point's own saturation`;

/** Enough that no key comes near its limit. */
const keys = 1_000;

/**
 * A service of its own whose live sessions have never been shown offers, each of them asked once: first in a closed loop,
 * which also makes whatever the catalog's rankings share, then on schedule.
 */
export async function firstLookPoint(
  context: BenchContext,
  scale: CurveScale,
  x: number,
  service: Pick<FilledServiceWanted, 'catalogOffers' | 'settings'>,
): Promise<CurvePoint> {
  const { saturationSeconds, onceSeconds: seconds, oncePerSecondMax, warmUpSeconds } = scale;
  const closedCount = Math.ceil(oncePerSecondMax * saturationSeconds * 1.5);
  const count = closedCount + Math.ceil(oncePerSecondMax * plannedShare * (warmUpSeconds + seconds));
  const wanted = { ...service, keys, sessions: { count, fields: 'all', told: count } } as const;
  return withFilledService(context, wanted, async ({ target, sessions, folder }) => {
    const looks = firstLooks(sessions);
    const requestsFile = join(folder, 'requests');
    await writeRequests(requestsFile, looks.slice(0, closedCount));
    const saturation = await findSaturation(context.sendOpenLoop, target, {
      requestsFile,
      once: true,
      seconds: saturationSeconds,
    });
    await writeRequests(requestsFile, looks.slice(closedCount));
    const perSecond = rateOf(plannedShare, saturation, seconds);
    return loadPoint(context.sendOpenLoop, target, x, perSecond, { requestsFile, once: true, warmUpSeconds, seconds });
  });
}
