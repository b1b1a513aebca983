import { join } from 'node:path';
import { writeRequests } from '../load/prepared-request.ts';
import type { CurvePoint } from '../result/curve-result.ts';
import { withBareServer } from './beside-bare.ts';
import type { Curve } from './curve.ts';
import { withSeededService } from './filled-service.ts';
import { sendEachOnce, measureSaturation } from './load-point.ts';
import { firstLookRequests, pageLoadRequests, pageLoadTitle } from './page-load.ts';
import { rateAtShare } from './rate-of.ts';

const offeredLoadSessions = 2_000;
/** A service that answers less than this share of what is offered is past saturation. */
const keepingUpShare = 0.95;
/** From each further rate to the next. */
const extraLoadFactor = 1.25;

/** From a small part of what the service can do to more than that. */
export const offeredLoadCurve: Curve = {
  name: 'offered-load',
  description: 'answers and latency by the rate offered, past saturation',
  measure: async (context, scale) => {
    const { progress, sendOpenLoop } = context;
    progress.step('offered-load: starting the service');
    const { keys } = context.scale;
    const wanted = { keys, sessions: { count: offeredLoadSessions, fields: 'all', told: offeredLoadSessions } } as const;
    return withSeededService(context, wanted, async ({ target, sessions, folder }) => {
      await sendEachOnce(sendOpenLoop, target, folder, firstLookRequests(sessions));
      const requestsFile = join(folder, 'requests');
      const requests = pageLoadRequests(sessions, target.keys);
      await writeRequests(requestsFile, requests);
      progress.step('offered-load: looking for saturation');
      const saturation = await measureSaturation(sendOpenLoop, target, {
        requestsFile,
        once: false,
        seconds: scale.saturationSeconds,
      });
      const points: CurvePoint[] = [];
      await withBareServer(target, { sendOpenLoop, scale, folder, requests, requestsFile }, async (measure) => {
        const offer = async (saturationShare: number): Promise<CurvePoint> => {
          const perSecond = rateAtShare(saturationShare, saturation, scale.seconds);
          progress.step(`offered-load: ${perSecond} a second, ${Math.round(saturationShare * 100)} % of saturation`);
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
