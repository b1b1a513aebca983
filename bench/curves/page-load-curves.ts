import { join } from 'node:path';
import { writeRequests } from '../load/prepared-request.ts';
import type { CurvePoint } from '../result/bench-result.ts';
import { type Curve, targetUtilization } from './curve.ts';
import { firstLookRequests, pageLoadRequests, pageLoadTitle } from './curve-requests.ts';
import { measureLoadPoint, measureSaturation, rateAtShare, sendEachOnce } from './load-point.ts';
import { withBareServer, withSeededService } from './seeded-service.ts';

const offeredLoadSessions = 2_000;
/** Minimum share of the offered load that the service answers if it is not saturated. */
const keepingUpShare = 0.95;
/** Factor between the rates of additional points. */
const extraLoadFactor = 1.25;

/** Measures the latency for different offered loads, from below to above saturation. */
export const offeredLoadCurve: Curve = {
  name: 'offered-load',
  description: 'throughput and latency by offered load, up to above saturation',
  measure: async (context, scale) => {
    const { progress, sendOpenLoop } = context;
    progress.step('offered-load: starting the service');
    const { keys } = context.scale;
    const wanted = {
      keys,
      sessions: { count: offeredLoadSessions, fields: 'all', sampleSize: offeredLoadSessions },
    } as const;
    return withSeededService(context, wanted, async ({ target, sessions, folder }) => {
      await sendEachOnce(sendOpenLoop, target, folder, firstLookRequests(sessions));
      const requestsFile = join(folder, 'requests');
      const requests = pageLoadRequests(sessions, target.keys);
      await writeRequests(requestsFile, requests);
      progress.step('offered-load: measuring saturation');
      const saturation = await measureSaturation(sendOpenLoop, target, {
        requestsFile,
        singleUse: false,
        seconds: scale.saturationSeconds,
      });
      const points: CurvePoint[] = [];
      await withBareServer(target, { sendOpenLoop, scale, folder, requests, requestsFile }, async (measure) => {
        const offer = async (saturationShare: number): Promise<CurvePoint> => {
          const perSecond = rateAtShare(saturationShare, saturation, scale.seconds);
          progress.step(
            `offered-load: ${perSecond} requests per second, ${Math.round(saturationShare * 100)} % of saturation`,
          );
          const point = await measure({ x: perSecond, perSecond, saturationShare, pointIndex: points.length });
          points.push(point);
          return point;
        };
        let last: CurvePoint | null = null;
        for (const share of scale.saturationShares) last = await offer(share);
        let share = Math.max(...scale.saturationShares);
        for (let further = 0; last !== null && isKeepingUp(last) && further < scale.extraLoads; further++) {
          share *= extraLoadFactor;
          last = await offer(share);
        }
      });
      return {
        curve: {
          name: 'offered-load',
          title: `${pageLoadTitle}; a closed loop had ${Math.round(saturation)} answers a second`,
          xLabel: 'requests offered a second',
          logarithmic: false,
          points,
        },
      };
    });
  },
};

function isKeepingUp({ achievedPerSecond, offeredPerSecond }: CurvePoint): boolean {
  return achievedPerSecond >= keepingUpShare * offeredPerSecond;
}

const keysCurveSessions = 2_000;

/** Measures the same load with an increasing number of API keys. */
export const keysCurve: Curve = {
  name: 'keys',
  description: 'latency by number of API keys',
  measure: async (context, scale) => {
    const { progress, sendOpenLoop } = context;
    const most = Math.max(...scale.keys);
    progress.step(`keys: starting the service with ${most} keys`);
    const wanted = {
      keys: most,
      sessions: { count: keysCurveSessions, fields: 'all', sampleSize: keysCurveSessions },
    } as const;
    return withSeededService(context, wanted, async ({ target, sessions, folder }) => {
      await sendEachOnce(sendOpenLoop, target, folder, firstLookRequests(sessions));
      const requestsFile = join(folder, 'requests');
      const load = { requestsFile, singleUse: false, warmUpSeconds: scale.warmUpSeconds };
      // The warm-up uses all keys, so that no key exceeds its limit.
      await writeRequests(requestsFile, pageLoadRequests(sessions, target.keys));
      progress.step('keys: measuring saturation');
      const saturation = await measureSaturation(sendOpenLoop, target, { ...load, seconds: scale.saturationSeconds });
      const perSecond = rateAtShare(targetUtilization, saturation, scale.seconds);
      const points: CurvePoint[] = [];
      for (const count of scale.keys) {
        progress.step(`keys: ${perSecond} requests per second from ${count} keys`);
        await writeRequests(requestsFile, pageLoadRequests(sessions, target.keys.slice(0, count)));
        points.push(
          await measureLoadPoint(sendOpenLoop, target, count, perSecond, { ...load, seconds: scale.seconds }),
        );
      }
      return {
        curve: {
          name: 'keys',
          title: `${pageLoadTitle}, at ${Math.round(targetUtilization * 100)} % of saturation; ${most} keys known`,
          xLabel: 'keys that send',
          logarithmic: true,
          points,
        },
      };
    });
  },
};
