import { join } from 'node:path';
import { personalLoans } from '../../src/verticals/personal-loans.ts';
import { writeRequests } from '../load/prepared-request.ts';
import type { CurvePoint } from '../result/curve-result.ts';
import { readMemoryAfterGc } from '../target/read-memory.ts';
import { readUsageWhenIdle } from '../target/target.ts';
import { withBareServer } from './beside-bare.ts';
import { type Curve, targetUtilization } from './curve.ts';
import { withSeededService } from './filled-service.ts';
import { measureSaturation } from './load-point.ts';
import { type MemoryPoint, estimateSessionMemory } from './memory.ts';
import { rateAtShare } from './rate-of.ts';
import { readSessionsMax } from './sessions-max.ts';
import { steadyLoadRequests, steadyLoadTitle } from './steady-load.ts';

/** Enough that no key comes near its limit. */
const liveSessionsKeys = 1_000;
/** Sessions that the load goes round: spread over all there are, and more than the caches of a processor hold. */
const loadedSessions = 20_000;

/**
 * The same rate with more and more live sessions: each time a service of its own, started on as many. What it holds is read
 * before the load, since a session that has been shown offers holds more: its ranking.
 */
export const liveSessionsCurve: Curve = {
  name: 'live-sessions',
  description: 'the same load with more and more live sessions, and what one takes of memory',
  measure: async (context, scale) => {
    const { progress, sendOpenLoop } = context;
    const points: CurvePoint[] = [];
    const memory: MemoryPoint[] = [];
    let perSecond = 0;
    for (const count of scale.liveSessions) {
      progress.step(`live-sessions: starting the service on ${count}`);
      const told = Math.min(count, loadedSessions);
      const wanted = { keys: liveSessionsKeys, sessions: { count, fields: 'required', told } } as const;
      await withSeededService(context, wanted, async ({ target, sessions, folder }) => {
        await readUsageWhenIdle(target);
        const held = await readMemoryAfterGc(target);
        if (held !== null) memory.push({ sessions: count, ...held });
        const requestsFile = join(folder, 'requests');
        const requests = steadyLoadRequests(sessions);
        await writeRequests(requestsFile, requests);
        // Each of them is warmed up alike, and the first one sets the rate.
        const saturation = await measureSaturation(sendOpenLoop, target, {
          requestsFile,
          once: false,
          seconds: scale.saturationSeconds,
        });
        perSecond ||= rateAtShare(targetUtilization, saturation, scale.seconds);
        progress.step(`live-sessions: ${perSecond} a second with ${count}`);
        await withBareServer(target, { sendOpenLoop, scale, folder, requests, requestsFile }, async (measure) => {
          points.push(await measure({ x: count, perSecond, saturationShare: targetUtilization, pointIndex: points.length }));
        });
      });
    }
    const share = Math.round(targetUtilization * 100);
    const from = Math.min(...scale.liveSessions);
    return {
      curve: {
        name: 'live-sessions',
        title: `${steadyLoadTitle}, at ${share} % of what the service does with ${from}`,
        xLabel: 'live sessions',
        logarithmic: true,
        points,
      },
      memory: estimateSessionMemory(memory, personalLoans.required.length, await readSessionsMax()),
    };
  },
};
