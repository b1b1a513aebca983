import type { BenchContext, BenchPart } from '../bench-part.ts';
import type { LoadCurvePoint } from '../result/bench-result.ts';
import { getLoadCurveSettings } from './curve.ts';
import { pageVisitRequests, uncachedOfferRequests } from './curve-requests.ts';
import { computeRequestRate, measureSaturation, sendEachRequestOnce } from './load-point.ts';
import { withBaselineServer, withSeededService } from './seeded-service.ts';

const sessionCount = 2_000;
/** Minimum share of the offered requests that the service answers if it is not saturated. */
const keepingUpShare = 0.95;
/** The request rate of each additional point is the rate of the previous point, multiplied by this factor. */
const extraLoadFactor = 1.25;

/** Measures latency and throughput at different offered loads, from below to above saturation. */
export const requestRateCurve = {
  name: 'offered-load',
  group: 'curves',
  description: 'throughput and latency by offered load, up to above saturation',
  measure: async (context: BenchContext, scale = getLoadCurveSettings(context)) => {
    const { progress } = context;
    progress.printProgress('offered-load: starting the service');
    const wanted = {
      keys: context.scale.keys,
      sessions: { count: sessionCount, fields: 'all', sampleSize: sessionCount },
    } as const;
    return withSeededService(context, wanted, async ({ target, sessions, sender }) => {
      await sendEachRequestOnce(sender, target, uncachedOfferRequests(sessions));
      progress.printProgress('offered-load: measuring saturation');
      const requests = pageVisitRequests(sessions, target.keys);
      const closedLoop = { requests, singleUse: false, seconds: scale.saturationSeconds };
      const saturation = await measureSaturation(sender, target, closedLoop);
      const points: LoadCurvePoint[] = [];
      await withBaselineServer(target, sender, scale, requests, async (measure) => {
        const offer = async (share: number): Promise<boolean> => {
          const perSecond = computeRequestRate(share, saturation, scale.seconds);
          const percent = Math.round(share * 100);
          progress.printProgress(`offered-load: ${perSecond} requests per second, ${percent} % of saturation`);
          const point = await measure(perSecond, perSecond, share, points.length);
          points.push(point);
          return point.achievedPerSecond >= keepingUpShare * point.offeredPerSecond;
        };
        let isKeepingUp = false;
        for (const share of scale.saturationShares) isKeepingUp = await offer(share);
        let share = Math.max(...scale.saturationShares);
        for (let extra = 0; isKeepingUp && extra < scale.extraLoads; extra++) {
          share *= extraLoadFactor;
          isKeepingUp = await offer(share);
        }
      });
      const curve = {
        name: 'offered-load',
        title: `80 % GET /marketplace with a cached ranking, 20 % POST /session; saturation ${Math.round(saturation)} replies per second`,
        points,
      } as const;
      return { curves: [curve] };
    });
  },
} satisfies BenchPart;
