import { join } from 'node:path';
import { writeRequests } from '../load/prepared-request.ts';
import type { CurvePoint } from '../result/curve-result.ts';
import type { Curve } from './curve.ts';
import { withFilledService } from './filled-service.ts';
import { askOnce, findSaturation, loadPoint } from './load-point.ts';
import { firstLooks, pageLoad, pageLoadAbout } from './page-load.ts';

const knownSessions = 2_000;

/** From a small part of what the service can do to more than that. */
export const offeredLoadCurve: Curve = {
  name: 'offered-load',
  about: 'answers and latency by the rate offered, past saturation',
  measure: async (context, scale) => {
    const { progress } = context;
    progress.step('offered-load: starting the service');
    const { keys } = context.scale;
    const wanted = { keys, sessions: { count: knownSessions, fields: 'all', told: knownSessions } } as const;
    return withFilledService(context, wanted, async ({ target, sessions, folder }) => {
      await askOnce(target, folder, firstLooks(sessions));
      const requestsFile = join(folder, 'requests');
      await writeRequests(requestsFile, pageLoad(sessions, target.keys));
      progress.step('offered-load: looking for saturation');
      const load = { requestsFile, once: false, warmUpSeconds: scale.warmUpSeconds };
      const saturation = await findSaturation(target, { ...load, seconds: scale.saturationSeconds });
      const points: CurvePoint[] = [];
      for (const share of scale.loadShares) {
        const perSecond = Math.max(1, Math.round(share * saturation));
        progress.step(`offered-load: ${perSecond} a second, ${Math.round(share * 100)} % of saturation`);
        points.push(await loadPoint(target, perSecond, perSecond, { ...load, seconds: scale.seconds }));
      }
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
