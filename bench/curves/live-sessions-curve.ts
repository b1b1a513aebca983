import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { writeRequests } from '../load/prepared-request.ts';
import type { CurvePoint, MemoryResult } from '../result/bench-result.ts';
import { readMemoryAfterGc, readUsageWhenIdle } from '../target/load-target.ts';
import { runChild } from '../target/owned-resources.ts';
import { type Curve, targetUtilization } from './curve.ts';
import { steadyLoadRequests, steadyLoadTitle } from './curve-requests.ts';
import { measureSaturation, rateAtShare } from './load-point.ts';
import { withBareServer, withSeededService } from './seeded-service.ts';

type MemoryPoint = MemoryResult['points'][number];

const mebibyte = 2 ** 20;

/** What one session adds, by the slope over all points: what the service holds without sessions is in none of it. Null with fewer than two. */
export function estimateSessionMemory(
  points: readonly MemoryPoint[],
  fields: number,
  sessionsMax: number,
): MemoryResult | null {
  if (points.length < 2) return null;
  const bytes = (of: (point: MemoryPoint) => number) =>
    leastSquaresSlope(points.map((point) => [point.sessions, of(point) * mebibyte]));
  return {
    fields,
    heapBytes: bytes(({ heapUsedMiB }) => heapUsedMiB),
    residentBytes: bytes(({ rssMiB }) => rssMiB),
    points,
    sessionsMax,
  };
}

/** Of the straight line that comes closest, by least squares. */
function leastSquaresSlope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (of: 0 | 1) => points.reduce((sum, point) => sum + point[of], 0) / points.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  let along = 0;
  let across = 0;
  for (const [x, y] of points) {
    along += (x - meanX) ** 2;
    across += (x - meanX) * (y - meanY);
  }
  return across / along;
}

const launcherPath = fileURLToPath(new URL('../../bin/marketplace', import.meta.url));

/** The most live sessions that the service would hold here, as it sets it itself when nobody says otherwise. */
export async function readSessionsMax(): Promise<number> {
  const { SVC_MAX_SESSIONS: _, ...env } = process.env;
  const output = await runChild(launcherPath, ['check-config'], { env, timeoutMs: 30_000 });
  return parseSessionsMax(output);
}

/** Out of what `check-config` prints. */
export function parseSessionsMax(output: string): number {
  const value = /^SVC_MAX_SESSIONS +(\d+)/m.exec(output)?.[1];
  if (value === undefined) throw new Error('check-config does not tell SVC_MAX_SESSIONS');
  return Number(value);
}

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
          points.push(
            await measure({ x: count, perSecond, saturationShare: targetUtilization, pointIndex: points.length }),
          );
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
