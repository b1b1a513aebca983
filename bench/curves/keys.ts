import { join } from 'node:path';
import { writeRequests } from '../load/prepared-request.ts';
import type { CurvePoint } from '../result/curve-result.ts';
import { type Curve, targetUtilization } from './curve.ts';
import { withSeededService } from './filled-service.ts';
import { sendEachOnce, measureSaturation, measureLoadPoint } from './load-point.ts';
import { firstLookRequests, pageLoadRequests, pageLoadTitle } from './page-load.ts';
import { rateAtShare } from './rate-of.ts';

const keysCurveSessions = 2_000;

/** The same load from more and more keys, all known to the service from the start. */
export const keysCurve: Curve = {
  name: 'keys',
  description: 'the same load from more and more keys',
  measure: async (context, scale) => {
    const { progress, sendOpenLoop } = context;
    const most = Math.max(...scale.keys);
    progress.step(`keys: starting the service with ${most}`);
    const wanted = { keys: most, sessions: { count: keysCurveSessions, fields: 'all', told: keysCurveSessions } } as const;
    return withSeededService(context, wanted, async ({ target, sessions, folder }) => {
      await sendEachOnce(sendOpenLoop, target, folder, firstLookRequests(sessions));
      const requestsFile = join(folder, 'requests');
      const load = { requestsFile, once: false, warmUpSeconds: scale.warmUpSeconds };
      // With all of them: the few that come first must not have used up their minute.
      await writeRequests(requestsFile, pageLoadRequests(sessions, target.keys));
      progress.step('keys: looking for saturation');
      const saturation = await measureSaturation(sendOpenLoop, target, { ...load, seconds: scale.saturationSeconds });
      const perSecond = rateAtShare(targetUtilization, saturation, scale.seconds);
      const points: CurvePoint[] = [];
      for (const count of scale.keys) {
        progress.step(`keys: ${perSecond} a second from ${count} keys`);
        await writeRequests(requestsFile, pageLoadRequests(sessions, target.keys.slice(0, count)));
        points.push(await measureLoadPoint(sendOpenLoop, target, count, perSecond, { ...load, seconds: scale.seconds }));
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
