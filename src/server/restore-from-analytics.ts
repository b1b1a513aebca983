import { setTimeout as pause } from 'node:timers/promises';
import { AnalyticsUnavailableError } from '../analytics/analytics.ts';
import type { ThreadAnalytics } from '../analytics/thread-analytics.ts';
import { bounds } from '../bounds.ts';
import { daysSinceEpoch } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { HashAssignments } from '../sessions/hash-assignments.ts';
import { isReferrerTag, type ReferrerTags } from '../sessions/referrer-tags.ts';
import type { CleanupStack } from './lifecycle.ts';

export interface RestoreDeps {
  readonly analytics: Pick<ThreadAnalytics, 'listNumberedTags' | 'listHashExperiments' | 'appliedPosition'>;
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly ledger: Pick<Ledger, 'lastAppendedPosition'>;
  readonly referrerTags: ReferrerTags;
  readonly hashAssignments: HashAssignments;
  readonly cleanup: CleanupStack;
}

/**
 * Restores the referrer tags of all sessions and the running experiments with `assignment: "hash"` from the analytics store, usually within
 * milliseconds. The returned promise resolves when the first query has timed out (`bounds.analyticsQueryTimeoutMs`), at the latest. If the
 * analytics store is being rebuilt, which can take minutes, they are restored in the background. The limit on the number of referrer tags
 * applies once all tags are restored.
 */
export async function restoreFromAnalytics(deps: RestoreDeps): Promise<void> {
  if (await tryRestore(deps)) return;
  const abortController = new AbortController();
  deps.cleanup.addCleanupCallback(() => abortController.abort());
  restoreWithRetries(deps, deps.ledger.lastAppendedPosition, abortController.signal);
}

/**
 * Waits until the aggregator has applied the ledger records up to a position, and then restores. A query before the last record is applied
 * would time out and delay other queries to the aggregator.
 */
async function restoreWithRetries(deps: RestoreDeps, upToPosition: number, signal: AbortSignal): Promise<void> {
  do {
    await pause(bounds.analyticsRestorePollMs, null, { signal }).catch(() => {});
    if (signal.aborted) return;
  } while (deps.analytics.appliedPosition < upToPosition || !(await tryRestore(deps)));
}

/** Restores from lists that the aggregator returns page by page. Returns false if the aggregator did not reply in time. */
async function tryRestore(deps: RestoreDeps): Promise<boolean> {
  try {
    await restoreReferrerTags(deps);
    await restoreHashExperiments(deps);
    return true;
  } catch (error) {
    if (!(error instanceof AnalyticsUnavailableError)) throw error;
    return false;
  }
}

async function restoreReferrerTags({ analytics, referrerTags }: RestoreDeps): Promise<void> {
  for (let lastId = 0; ; ) {
    const page = await analytics.listNumberedTags(lastId);
    if (page.length === 0) break;
    for (const [id, account, vertical, test, tag] of page) {
      if (isReferrerTag(tag)) referrerTags.restoreReferrerTag(account, vertical, test === 1 ? 'test' : 'live', tag);
      lastId = id;
    }
  }
  referrerTags.enableTagCountLimit();
}

async function restoreHashExperiments({ analytics, clock, hashAssignments }: RestoreDeps): Promise<void> {
  const today = daysSinceEpoch(clock.wallMs());
  for (let afterNumber = 0; ; ) {
    const page = await analytics.listHashExperiments({ afterNumber, today });
    if (page.length === 0) break;
    for (const { number, account, vertical, mode, ...experiment } of page) {
      hashAssignments.restoreExperiment(account, vertical, mode, experiment);
      afterNumber = number;
    }
  }
}
