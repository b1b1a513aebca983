import { setTimeout as wait } from 'node:timers/promises';
import { ThreadAnalytics } from '../../src/analytics/thread-analytics.ts';
import { bounds } from '../../src/bounds.ts';
import { daysSinceEpoch, msPerDay } from '../../src/domain/calendar.ts';
import { openEventLog } from '../../src/event-log/file-event-log.ts';
import { dataPaths } from '../../src/files/data-paths.ts';
import { offersViewedRecord, sessionCreatedRecord, subIdBytes } from '../../test/support/ledger-records.ts';

const firstDayMs = Date.UTC(2026, 0, 1);
const firstDay = daysSinceEpoch(firstDayMs);
const today = firstDay + 2;
/** Maximum number of referrer tags with sessions on the first day. */
export const tagsOfFirstDay = 7_000;
const queryPauseMs = 1;
const undisturbedMs = 2_000;
/** Time in which the rows of the archived sessions are deleted. */
const pruneMs = 500;

interface RetentionTimes {
  readonly archiveMs: number;
  /** Latencies of queries before the first day is archived, and meanwhile, in milliseconds, in ascending order. */
  readonly before: readonly number[];
  readonly meanwhile: readonly number[];
}

/** Archives the first day of a ledger in which `tags` referrer tags have a session on the second day, and measures queries meanwhile. */
export async function measureArchivedDay(dataDir: string, tags: number): Promise<RetentionTimes> {
  const files = dataPaths(dataDir);
  const position = await writeLedger(files.ledgerFolder, tags);
  const log = { lastAppendedPosition: position, durablePosition: position, healthy: true };
  const analytics = await ThreadAnalytics.start({ files, log });
  try {
    while (analytics.appliedPosition < position) await wait(100);
    const before = await measureQueries(analytics, tags, wait(undisturbedMs));
    const started = performance.now();
    const archived = archiveFirstDay(analytics).then(() => performance.now() - started);
    const pruned = archived.then(() => wait(pruneMs));
    const meanwhile = await measureQueries(analytics, tags, pruned);
    return { archiveMs: await archived, before, meanwhile };
  } finally {
    await analytics.close();
  }
}

/** Returns the number of records. Each session sees three offers. */
async function writeLedger(folder: string, tags: number): Promise<number> {
  const log = await openEventLog({ folder, durability: 'write' });
  let serial = 0;
  for (const [day, tagsOfDay] of [Math.min(tags, tagsOfFirstDay), tags, 1].entries()) {
    for (let index = 0; index < tagsOfDay; index++, serial++) {
      const sub = subIdBytes({ createdMs: firstDayMs + day * msPerDay + index, serial });
      log.appendWithoutWaiting(sessionCreatedRecord(sub, { tag: `tag-${index}` }));
      const viewed = log.append(offersViewedRecord(sub, ['a', 'b', 'c']));
      if (serial % 250 === 0) await viewed!.durable;
    }
  }
  await log.close();
  return log.lastAppendedPosition;
}

/** Repeats the call as `RetentionTask` does. */
async function archiveFirstDay(analytics: ThreadAnalytics): Promise<void> {
  for (;;) {
    const result = await analytics.applyRetention({ today: firstDay + 1, retentionDays: 0, wallMs: 0 });
    if (result.archived) return;
    if (result.reason !== null) throw new Error(result.reason);
    await wait(bounds.retentionPauseMs);
  }
}

async function measureQueries(analytics: ThreadAnalytics, tags: number, end: Promise<unknown>): Promise<number[]> {
  const latencies: number[] = [];
  const own = { account: 1, vertical: 1, mode: 'live', fromDay: firstDay, toDay: today, today, subs: null } as const;
  let isOver = false;
  const ended = end.finally(() => {
    isOver = true;
  });
  for (let index = 0; !isOver; index++) {
    const started = performance.now();
    await analytics.getSummary({ ...own, referrerTag: `tag-${(index * 7_919) % tags}` });
    latencies.push(performance.now() - started);
    await wait(queryPauseMs);
  }
  await ended;
  return latencies.sort((a, b) => a - b);
}
