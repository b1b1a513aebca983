import { setTimeout as pause } from 'node:timers/promises';
import { AnalyticsUnavailableError } from '../analytics/analytics.ts';
import type { ThreadAnalytics } from '../analytics/thread-analytics.ts';
import { bounds } from '../bounds.ts';
import type { ReferrerTags } from '../sessions/referrer-tags.ts';
import { isReferrerTag } from '../sessions/referrer-tags.ts';
import type { CleanupStack } from './lifecycle.ts';

type ExperimentSource = Pick<ThreadAnalytics, 'listExperiments' | 'projectedPosition'>;

/**
 * Restores the referrer tags of all sessions from the analytics store, usually within milliseconds. If the aggregator is rebuilding
 * its store, which can take minutes, the promise resolves after `bounds.analyticsQueryTimeoutMs` and the restore continues in the
 * background. The limit on the number of tags applies once the restore is complete.
 *
 * @param upToPosition position of the last record in the ledger
 */
export async function restoreReferrerTags(
  analytics: ExperimentSource,
  upToPosition: number,
  referrerTags: ReferrerTags,
  cleanup: CleanupStack,
): Promise<void> {
  if (await tryRestore(analytics, referrerTags)) return;
  const abortController = new AbortController();
  cleanup.defer(() => abortController.abort());
  restoreInBackground(analytics, upToPosition, referrerTags, abortController.signal);
}

/** Starts the queries after the aggregator has applied all records, because even a timed-out query occupies the aggregator's queue. */
async function restoreInBackground(
  analytics: ExperimentSource,
  upToPosition: number,
  referrerTags: ReferrerTags,
  signal: AbortSignal,
): Promise<void> {
  do {
    await pause(bounds.referrerTagRestorePollMs, null, { signal }).catch(() => {});
    if (signal.aborted) return;
  } while (analytics.projectedPosition < upToPosition || !(await tryRestore(analytics, referrerTags)));
}

/** Reads all pages of experiments. Returns false if the aggregator did not reply in time. */
async function tryRestore(analytics: ExperimentSource, referrerTags: ReferrerTags): Promise<boolean> {
  try {
    for (let lastId = 0; ; ) {
      const page = await analytics.listExperiments(lastId);
      for (const [id, account, vertical, test, tag] of page) {
        if (isReferrerTag(tag)) referrerTags.restore(account, vertical, test === 1 ? 'test' : 'live', tag);
        lastId = id;
      }
      if (page.length === 0) break;
    }
  } catch (error) {
    if (!(error instanceof AnalyticsUnavailableError)) throw error;
    return false;
  }
  referrerTags.enableLimit();
  return true;
}
