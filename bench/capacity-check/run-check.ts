import { join } from 'node:path';
import type { CheckFindings, CheckOrder } from '../../src/capacity/check.ts';
import { withFilledService } from '../curves/filled-service.ts';
import { askOnce } from '../curves/load-point.ts';
import { firstLooks } from '../curves/page-load.ts';
import { HttpCaller } from '../load/http-caller.ts';
import { type PreparedRequest, writeRequests } from '../load/prepared-request.ts';
import { clientSaturated } from '../open-loop/client-saturated.ts';
import { failedInAll } from '../open-loop/open-loop-plan.ts';
import type { BenchContext } from '../part.ts';
import { clickRequests, type OpenSession } from '../scenarios/borrowers.ts';
import { readMemory } from '../target/read-memory.ts';
import { usageWhenQuiet } from '../target/target.ts';
import { checkScale, warmUpSeconds } from './check-scale.ts';
import { mixedLoad } from './mixed-load.ts';

/** As that route was measured with: the dearer catalog. */
const catalogOffers = 200;
/** As the points of the curve of offered load have them, which a check is to be compared with. */
const connections = 256;
const waitingSeconds = 2;
const deadlineMs = 5_000;
const seed = 29;
const preparingConnections = 64;
const offersShown = 20;
const clickSessionsAtOnce = 500;

/** Puts a planned load on a server of its own, all defaults, that starts on live sessions. */
export async function runCheck(
  order: CheckOrder,
  context: Pick<BenchContext, 'sendOpenLoop' | 'folder' | 'progress' | 'catalog'>,
): Promise<CheckFindings> {
  const scale = checkScale(order);
  const { progress, sendOpenLoop } = context;
  const { changed, known, fresh, clicked } = scale.sessions;
  const told = changed + known + fresh + clicked;
  const keyCount = scale.keys + scale.preparingKeys;
  progress.step(`starting a server with ${keyCount} keys on ${scale.sessionsInAll} live sessions`);
  const wanted = {
    keys: keyCount,
    catalogOffers,
    sessions: { count: scale.sessionsInAll, fields: 'all', told },
  } as const;
  return withFilledService(context, wanted, async ({ target, sessions, folder }) => {
    const keys = target.keys.slice(0, scale.keys);
    const preparingKeys = target.keys.slice(scale.keys);
    const take = pool(sessions);
    const prepared = (count: number) => withKeys(take(count), preparingKeys);
    const stock = { keys, changed: take(changed), known: prepared(known), fresh: take(fresh) };
    progress.step('asking for the offers that are to be known and clicked');
    await askOnce(sendOpenLoop, target, folder, firstLooks(stock.known));
    const clicks = await makeClicks(target.port, prepared(clicked), scale.clicks);

    const requestsFile = join(folder, 'requests');
    await writeRequests(requestsFile, mixedLoad(order.ratesPerSecond, scale, { ...stock, clicks }));
    const before = await usageWhenQuiet(target);
    await target.probe.begin();
    progress.step(`${Math.round(scale.perSecond)} requests a second for ${order.seconds} s`);
    const result = await sendOpenLoop({
      port: target.port,
      requestsFile,
      once: true,
      perSecond: scale.perSecond,
      arrivals: 'poisson',
      seed,
      warmUpSeconds,
      seconds: order.seconds,
      connections,
      waitingMax: Math.ceil(scale.perSecond * waitingSeconds),
      deadlineMs,
      expectedStatus: 200,
      alsoExpected: [302],
    });
    const figures = await target.probe.end();
    const after = await usageWhenQuiet(target);
    const memory = await readMemory(target);
    progress.done('checked');
    const cores = (of: 'allThreads' | 'mainThread') =>
      before === null || after === null ? null : (after[of] - before[of]) / (warmUpSeconds + order.seconds);
    return {
      seconds: order.seconds,
      offeredPerSecond: result.due / order.seconds,
      achievedPerSecond: result.achievedPerSecond,
      refused: result.refused,
      failed: failedInAll(result.failed),
      p99Ms: result.latencyMs.p99,
      socketThreadCores: cores('mainThread'),
      allThreadsCores: cores('allThreads'),
      residentMiB: figures?.rssMiB ?? null,
      memoryMiB: memory?.rssMiB ?? null,
      liveSessions: Math.round(
        scale.sessionsInAll + (result.answered * order.ratesPerSecond.session) / scale.perSecond,
      ),
      keys: keys.length,
      clientSaturated: clientSaturated(result),
    };
  });
}

/** Hands out sessions, each once. */
function pool(sessions: readonly OpenSession[]): (count: number) => OpenSession[] {
  let taken = 0;
  return (count) => {
    taken += count;
    if (taken > sessions.length) throw new Error('fewer sessions were written than the check needs');
    return sessions.slice(taken - count, taken);
  };
}

function withKeys(sessions: readonly OpenSession[], keys: readonly string[]): OpenSession[] {
  return sessions.map((session, at) => ({ ...session, key: keys[at % keys.length]! }));
}

/** Clicks of different pairs of session and offer. */
async function makeClicks(port: number, sessions: readonly OpenSession[], count: number): Promise<PreparedRequest[]> {
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
