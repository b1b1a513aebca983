import { join } from 'node:path';
import { writeRequests } from '../load/prepared-request.ts';
import type { CurvePoint } from '../result/curve-result.ts';
import { type Curve, plannedShare } from './curve.ts';
import { withFilledService } from './filled-service.ts';
import { askOnce, findSaturation, loadPoint } from './load-point.ts';
import { firstLooks, pageLoad, pageLoadAbout } from './page-load.ts';
import { rateOf } from './rate-of.ts';

const knownSessions = 2_000;

/** The same load from more and more keys, all known to the service from the start. */
export const keysCurve: Curve = {
  name: 'keys',
  about: 'the same load from more and more keys',
  measure: async (context, scale) => {
    const { progress, sendOpenLoop } = context;
    const most = Math.max(...scale.keys);
    progress.step(`keys: starting the service with ${most}`);
    const wanted = { keys: most, sessions: { count: knownSessions, fields: 'all', told: knownSessions } } as const;
    return withFilledService(context, wanted, async ({ target, sessions, folder }) => {
      await askOnce(sendOpenLoop, target, folder, firstLooks(sessions));
      const requestsFile = join(folder, 'requests');
      const load = { requestsFile, once: false, warmUpSeconds: scale.warmUpSeconds };
      // With all of them: the few that come first must not have used up their minute.
      await writeRequests(requestsFile, pageLoad(sessions, target.keys));
      progress.step('keys: looking for saturation');
      const saturation = await findSaturation(sendOpenLoop, target, { ...load, seconds: scale.saturationSeconds });
      const perSecond = rateOf(plannedShare, saturation, scale.seconds);
      const points: CurvePoint[] = [];
      for (const count of scale.keys) {
        progress.step(`keys: ${perSecond} a second from ${count} keys`);
        await writeRequests(requestsFile, pageLoad(sessions, target.keys.slice(0, count)));
        points.push(await loadPoint(sendOpenLoop, target, count, perSecond, { ...load, seconds: scale.seconds }));
      }
      return {
        curve: {
          name: 'keys',
          title: `${pageLoadAbout}, at ${Math.round(plannedShare * 100)} % of saturation; ${most} keys known`,
          xLabel: 'keys that send',
          logarithmic: true,
          points,
        },
      };
    });
  },
};
