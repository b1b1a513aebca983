import { join } from 'node:path';
import { writeRequests } from '../load/prepared-request.ts';
import type { CurvePoint } from '../result/curve-result.ts';
import { withBareBeside } from './beside-bare.ts';
import type { Curve } from './curve.ts';
import { withFilledService } from './filled-service.ts';
import { askOnce, findSaturation } from './load-point.ts';
import { firstLooks, pageLoad, pageLoadAbout } from './page-load.ts';
import { rateOf } from './rate-of.ts';

const knownSessions = 2_000;
/** A service that answers less than this share of what is offered is past saturation. */
const keepingUpShare = 0.95;
/** From each further rate to the next. */
const furtherFactor = 1.25;

/** From a small part of what the service can do to more than that. */
export const offeredLoadCurve: Curve = {
  name: 'offered-load',
  about: 'answers and latency by the rate offered, past saturation',
  measure: async (context, scale) => {
    const { progress, sendOpenLoop } = context;
    progress.step('offered-load: starting the service');
    const { keys } = context.scale;
    const wanted = { keys, sessions: { count: knownSessions, fields: 'all', told: knownSessions } } as const;
    return withFilledService(context, wanted, async ({ target, sessions, folder }) => {
      await askOnce(sendOpenLoop, target, folder, firstLooks(sessions));
      const requestsFile = join(folder, 'requests');
      const requests = pageLoad(sessions, target.keys);
      await writeRequests(requestsFile, requests);
      progress.step('offered-load: looking for saturation');
      const saturation = await findSaturation(sendOpenLoop, target, {
        requestsFile,
        once: false,
        seconds: scale.saturationSeconds,
      });
      const points: CurvePoint[] = [];
      await withBareBeside(target, { sendOpenLoop, scale, folder, requests, requestsFile }, async (measure) => {
        const offer = async (share: number): Promise<CurvePoint> => {
          const perSecond = rateOf(share, saturation, scale.seconds);
          progress.step(`offered-load: ${perSecond} a second, ${Math.round(share * 100)} % of saturation`);
          const point = await measure({ x: perSecond, perSecond, share, place: points.length });
          points.push(point);
          return point;
        };
        let last: CurvePoint | null = null;
        for (const share of scale.loadShares) last = await offer(share);
        let share = Math.max(...scale.loadShares);
        for (let further = 0; last !== null && keepsUp(last) && further < scale.furtherLoads; further++) {
          share *= furtherFactor;
          last = await offer(share);
        }
      });
      return {
        curve: {
          name: 'offered-load',
          title: `${pageLoadAbout}; a closed loop had ${Math.round(saturation)} answers a second`,
          xLabel: 'requests offered a second',
          logarithmic: false,
          points,
        },
      };
    });
  },
};

function keepsUp({ achievedPerSecond, offeredPerSecond }: CurvePoint): boolean {
  return achievedPerSecond >= keepingUpShare * offeredPerSecond;
}
