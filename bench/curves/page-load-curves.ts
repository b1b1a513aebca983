import type { BenchContext } from '../bench-part.ts';
import type { CurvePoint } from '../result/bench-result.ts';
import { type CurveScale, createCurvePart, targetUtilization } from './curve.ts';
import { pageLoadRequests, pageLoadTitle, uncachedOfferRequests } from './curve-requests.ts';
import { measureLoadPoint, measureSaturation, rateAtSaturationShare, sendEachRequestOnce } from './load-point.ts';
import { type SeededService, withBareServer, withSeededService } from './seeded-service.ts';

const sessionCount = 2_000;
/** Minimum share of the offered load that the service answers if it is not saturated. */
const keepingUpShare = 0.95;
/** Factor between the request rates of two additional points. */
const extraLoadFactor = 1.25;

/** Measures latency and throughput at different offered loads, from below to above saturation. */
export const offeredLoadCurve = createCurvePart(
  'offered-load',
  'throughput and latency by offered load, up to above saturation',
  (context, scale) =>
    withPageLoad(context, scale, context.scale.keys, async ({ target, sessions, sender }, saturation) => {
      const points: CurvePoint[] = [];
      const requests = pageLoadRequests(sessions, target.keys);
      await withBareServer(target, sender, scale, requests, async (measure) => {
        const offer = async (share: number): Promise<boolean> => {
          const perSecond = rateAtSaturationShare(share, saturation, scale.seconds);
          const percent = Math.round(share * 100);
          context.progress.showStep(`offered-load: ${perSecond} requests per second, ${percent} % of saturation`);
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
      return {
        title: `${pageLoadTitle}; saturation ${Math.round(saturation)} replies per second`,
        xLabel: 'requests offered a second',
        logarithmic: false,
        points,
      };
    }),
);

/** Measures the latency of the same load with an increasing number of API keys. */
export const apiKeysCurve = createCurvePart('keys', 'latency by number of API keys', (context, scale) => {
  const keysMax = Math.max(...scale.keys);
  return withPageLoad(context, scale, keysMax, async ({ target, sessions, sender }, saturation) => {
    const { warmUpSeconds, seconds } = scale;
    const perSecond = rateAtSaturationShare(targetUtilization, saturation, seconds);
    const points: CurvePoint[] = [];
    for (const count of scale.keys) {
      context.progress.showStep(`keys: ${perSecond} requests per second from ${count} keys`);
      const requests = pageLoadRequests(sessions, target.keys.slice(0, count));
      const load = { requests, singleUse: false, warmUpSeconds, seconds };
      points.push(await measureLoadPoint(sender, target, count, perSecond, load));
    }
    return {
      title: `${pageLoadTitle}, at ${Math.round(targetUtilization * 100)} % of saturation; ${keysMax} keys known`,
      xLabel: 'keys that send',
      logarithmic: true,
      points,
    };
  });
});

/** Starts a service whose sessions have cached rankings, and measures its saturation with page loads of all keys. */
function withPageLoad<Result>(
  context: BenchContext,
  { saturationSeconds: seconds }: CurveScale,
  keys: number,
  use: (service: SeededService, saturation: number) => Promise<Result>,
): Promise<Result> {
  context.progress.showStep(`page loads: starting the service with ${keys} keys`);
  const sessions = { count: sessionCount, fields: 'all', sampleSize: sessionCount } as const;
  return withSeededService(context, { keys, sessions }, async (service) => {
    const { target, sender } = service;
    await sendEachRequestOnce(sender, target, uncachedOfferRequests(service.sessions));
    context.progress.showStep('page loads: measuring saturation');
    const requests = pageLoadRequests(service.sessions, target.keys);
    return use(service, await measureSaturation(sender, target, { requests, singleUse: false, seconds }));
  });
}
