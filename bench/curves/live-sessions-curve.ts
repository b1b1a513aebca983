import { fileURLToPath } from 'node:url';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import type { BenchContext, BenchPart } from '../bench-part.ts';
import type { LoadCurvePoint, SessionMemoryUsage } from '../result/bench-result.ts';
import { readMemoryAfterGc, readProcessUsageWhenIdle } from '../target/load-target.ts';
import { runChildProcess } from '../target/owned-resources.ts';
import { getLoadCurveSettings } from './curve.ts';
import { steadyLoadRequests } from './curve-requests.ts';
import { computeRequestRate, measureSaturation } from './load-point.ts';
import { withBaselineServer, withSeededService } from './seeded-service.ts';

type MemoryPoint = SessionMemoryUsage['points'][number];

const mebibyte = 2 ** 20;

/** Returns the memory per session, computed as the slope of a line through `points`. Returns null if there are fewer than two points. */
export function estimateSessionMemory(
  points: readonly MemoryPoint[],
  fields: number,
  sessionsMax: number,
): SessionMemoryUsage | null {
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

/** Returns the slope of the least-squares line through the points. */
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

/** Returns the default value of SVC_MAX_SESSIONS on this machine. */
export async function readDefaultMaxSessions(): Promise<number> {
  const { SVC_MAX_SESSIONS: _, ...env } = process.env;
  const output = await runChildProcess(launcherPath, ['check-config'], { env, timeoutMs: 30_000 });
  const value = /^SVC_MAX_SESSIONS +(\d+)/m.exec(output)?.[1];
  if (value === undefined) throw new Error('check-config did not print SVC_MAX_SESSIONS');
  return Number(value);
}

/** Request rate of the load, as a share of the saturation rate that is measured with the fewest live sessions. */
const saturationShare = 0.6;
/** Number of API keys, large enough that each key stays below its rate limit. */
const liveSessionsKeys = 1_000;
/** Number of sessions for which the load sends requests. The data of 20,000 sessions does not fit into the CPU caches. */
const loadedSessions = 20_000;

/**
 * Measures the latencies at a fixed request rate for several numbers of live sessions, with a new service for each number. Measures the
 * memory of the service before the load, because the load adds cached rankings.
 */
export const liveSessionsCurve = {
  name: 'live-sessions',
  group: 'curves',
  description: 'latency by number of live sessions, and memory per session',
  measure: async (context: BenchContext, scale = getLoadCurveSettings(context)) => {
    const { progress } = context;
    const points: LoadCurvePoint[] = [];
    const memory: MemoryPoint[] = [];
    let perSecond = 0;
    for (const count of scale.liveSessions) {
      progress.printProgress(`live-sessions: starting the service with ${count} sessions`);
      const sampleSize = Math.min(count, loadedSessions);
      const wanted = { keys: liveSessionsKeys, sessions: { count, fields: 'required', sampleSize } } as const;
      await withSeededService(context, wanted, async ({ target, sessions, sender }) => {
        await readProcessUsageWhenIdle(target);
        const figures = await readMemoryAfterGc(target);
        if (figures !== null) memory.push({ sessions: count, ...figures });
        const requests = steadyLoadRequests(sessions);
        // A closed loop warms up each new service. The saturation rate with the fewest live sessions sets the request rate of the curve.
        const closedLoop = { requests, singleUse: false, seconds: scale.saturationSeconds };
        const saturation = await measureSaturation(sender, target, closedLoop);
        perSecond ||= computeRequestRate(saturationShare, saturation, scale.seconds);
        progress.printProgress(`live-sessions: ${perSecond} requests per second with ${count} sessions`);
        await withBaselineServer(target, sender, scale, requests, async (measure) => {
          points.push(await measure(count, perSecond, saturationShare, points.length));
        });
      });
    }
    const share = Math.round(saturationShare * 100);
    const title = `80 % GET /marketplace, 20 % POST /inputs, at ${share} % of the saturation with ${Math.min(...scale.liveSessions)} sessions`;
    return {
      curves: [{ name: 'live-sessions', title, points } as const],
      memory: estimateSessionMemory(memory, personalLoans.required.length, await readDefaultMaxSessions()),
    };
  },
} satisfies BenchPart;
