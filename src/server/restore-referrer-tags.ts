import { setTimeout as pause } from 'node:timers/promises';
import { AnalyticsUnavailableError } from '../analytics/analytics.ts';
import type { ThreadAnalytics } from '../analytics/thread-analytics.ts';
import { bounds } from '../bounds.ts';
import type { ReferrerTags } from '../sessions/referrer-tags.ts';
import { isReferrerTag } from '../sessions/referrer-tags.ts';
import type { CleanupStack } from './shutdown.ts';

type ExperimentSource = Pick<ThreadAnalytics, 'listExperiments' | 'projectedPosition'>;

/**
 * Restores the tags of all sessions ever created. The analytics store has an experiment for each tag, and the aggregator answers
 * once it has counted every record of the ledger: within milliseconds as a rule. While it derives its store again, which may take
 * minutes, this resolves after `bounds.analyticsAnswerMs` and goes on in the background; until then new tags are not limited.
 *
 * @param upToPosition position of the last record in the ledger
 */
export async function restoreReferrerTags(
  analytics: ExperimentSource,
  upToPosition: number,
  referrerTags: ReferrerTags,
  closers: CleanupStack,
): Promise<void> {
  if (await tryRestore(analytics, referrerTags)) return;
  const closing = new AbortController();
  closers.defer(() => closing.abort());
  restoreInBackground(analytics, upToPosition, referrerTags, closing.signal);
}

/** An answer that comes too late keeps its place in the aggregator's queue: so it is asked only when it can answer. */
async function restoreInBackground(
  analytics: ExperimentSource,
  upToPosition: number,
  referrerTags: ReferrerTags,
  closing: AbortSignal,
): Promise<void> {
  do {
    await pause(bounds.referrerTagRestorePollMs, null, { signal: closing }).catch(() => {});
    if (closing.aborted) return;
  } while (analytics.projectedPosition < upToPosition || !(await tryRestore(analytics, referrerTags)));
}

/** Asks for all pages from the first. False when the aggregator did not answer in time. */
async function tryRestore(analytics: ExperimentSource, referrerTags: ReferrerTags): Promise<boolean> {
  try {
    for (let last = 0; ; ) {
      const page = await analytics.listExperiments(last);
      for (const [number, account, vertical, test, tag] of page) {
        if (isReferrerTag(tag)) referrerTags.restore(account, vertical, test === 1 ? 'test' : 'live', tag);
        last = number;
      }
      if (page.length === 0) break;
    }
  } catch (fault) {
    if (!(fault instanceof AnalyticsUnavailableError)) throw fault;
    return false;
  }
  referrerTags.enableLimit();
  return true;
}
