import { cpus } from 'node:os';
import type { BenchContext } from '../bench-part.ts';
import type { CapacityCheckMeasurements, CapacityCheckRequest } from '../capacity/check.ts';
import { uncachedOfferRequests } from '../curves/curve-requests.ts';
import { prepareLoadPoint, sendEachRequestOnce } from '../curves/load-point.ts';
import { withSeededService } from '../curves/seeded-service.ts';
import { isOpenLoopClientSaturated } from '../load/client-saturation.ts';
import { HttpCaller } from '../load/http-caller.ts';
import type { PreparedRequest } from '../load/prepared-request.ts';
import { type BorrowerSession, clickRequests } from '../scenarios/requests.ts';
import { measureServerUsage, readMemoryAfterGc } from '../target/load-target.ts';
import { buildMixedLoad, computeLoadSize, warmUpSeconds } from './mixed-load.ts';

/** Number of offers in the catalog, as in the route benchmark `marketplace-unknown`. */
const catalogOffers = 200;
const preparingConnections = 64;
const offersShown = 20;
const clickSessionsAtOnce = 500;

/** Runs a planned load on a new server with default settings and live sessions. */
export async function runCapacityCheck(
  order: CapacityCheckRequest,
  context: Pick<BenchContext, 'sendOpenLoop' | 'folder' | 'progress'>,
): Promise<CapacityCheckMeasurements> {
  const scale = computeLoadSize(order);
  const { progress } = context;
  const { changed, known, fresh, clicked } = scale.sessions;
  const sampleSize = changed + known + fresh + clicked;
  const keyCount = scale.keys + scale.preparingKeys;
  progress.printProgress(`starting a server with ${keyCount} keys and ${scale.totalSessions} live sessions`);
  const wanted = {
    keys: keyCount,
    catalogOffers,
    sessions: { count: scale.totalSessions, fields: 'all', sampleSize },
  } as const;
  return withSeededService(context, wanted, async ({ target, sessions, sender }) => {
    const keys = target.keys.slice(0, scale.keys);
    const preparingKeys = target.keys.slice(scale.keys);
    const take = sessionPool(sessions);
    const prepared = (count: number) =>
      take(count).map((session, at) => ({ ...session, key: preparingKeys[at % preparingKeys.length]! }));
    const stock = { keys, changed: take(changed), known: prepared(known), fresh: take(fresh) };
    progress.printProgress('requesting offers for known rankings and clicks');
    await sendEachRequestOnce(sender, target, uncachedOfferRequests(stock.known));
    const clicks = await createClickRequests(target.port, prepared(clicked), scale.clicks);

    const requests = buildMixedLoad(order.ratesPerSecond, scale, { ...stock, clicks });
    const { perSecond } = scale;
    const { seconds } = order;
    progress.printProgress(`${Math.round(perSecond)} requests per second for ${seconds} s`);
    const plan = await prepareLoadPoint(sender, target, perSecond, {
      requests,
      singleUse: true,
      warmUpSeconds,
      seconds,
    });
    const cpuBefore = machineCpuTimes();
    const { result, usage, process } = await measureServerUsage(target, () =>
      sender.sendOpenLoop({ ...plan, alsoExpected: [302] }),
    );
    const cpuAfter = machineCpuTimes();
    const memory = await readMemoryAfterGc(target);
    progress.printLine('checked');
    const cores = (cpuSeconds: number | undefined) =>
      cpuSeconds === undefined ? null : cpuSeconds / (warmUpSeconds + seconds);
    return {
      seconds,
      keys: keys.length,
      live_sessions: Math.round(scale.totalSessions + (result.answered * order.ratesPerSecond.session) / perSecond),
      resident_mib: process?.rssMiB ?? null,
      offered_per_second: result.due / seconds,
      refused: result.refused,
      failed: result.failed,
      client_saturated: isOpenLoopClientSaturated(result),
      machine_idle_share: (cpuAfter.idle - cpuBefore.idle) / (cpuAfter.total - cpuBefore.total),
      measured: {
        rate: result.achievedPerSecond,
        p99: result.latencyMs.p99,
        'socket-thread': cores(usage?.mainThreadSeconds),
        'all-threads': cores(usage?.allThreadsSeconds),
        memory: memory?.rssMiB ?? null,
      },
    };
  });
}

/** Returns the CPU time of all cores since the start of the machine, in milliseconds. */
function machineCpuTimes(): { readonly idle: number; readonly total: number } {
  const times = cpus().map((core) => core.times);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return { idle: sum(times.map(({ idle }) => idle)), total: sum(times.flatMap((each) => Object.values(each))) };
}

/** Returns a function that returns the next `count` unused sessions on each call. */
function sessionPool(sessions: readonly BorrowerSession[]): (count: number) => BorrowerSession[] {
  let taken = 0;
  return (count) => {
    taken += count;
    if (taken > sessions.length) throw new Error('not enough sessions for the check');
    return sessions.slice(taken - count, taken);
  };
}

/** Returns click requests, at most one for each offer in a session. */
async function createClickRequests(
  port: number,
  sessions: readonly BorrowerSession[],
  count: number,
): Promise<PreparedRequest[]> {
  const caller = new HttpCaller(port, preparingConnections);
  try {
    const clicks: PreparedRequest[] = [];
    for (let first = 0; first < sessions.length && clicks.length < count; first += clickSessionsAtOnce) {
      const some = sessions.slice(first, first + clickSessionsAtOnce);
      clicks.push(...(await clickRequests({ caller }, some, offersShown)));
    }
    if (clicks.length < count) throw new Error('too few borrowers match an offer of this catalog');
    return clicks;
  } finally {
    caller.close();
  }
}
