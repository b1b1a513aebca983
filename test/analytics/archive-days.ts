import type { AnalyticsStore } from '../../src/analytics/analytics-store.ts';
import type { ArchivedCounters } from '../../src/analytics/archive-record.ts';
import type { ArchiveRange, CounterArchive } from '../../src/analytics/counter-archive.ts';
import type { RetentionRequest, RetentionResult } from '../../src/analytics/store-retention.ts';

/** Adds a segment to an archive. */
export function archiveCounters(archive: CounterArchive, range: ArchiveRange, counters: ArchivedCounters): void {
  archive.startSegment(range, counters);
  while (!archive.continueSegment(1_000));
}

/** Repeats the call until all days beyond the retention period are archived, as the retention task does. */
export function archiveDays(
  store: Pick<AnalyticsStore, 'applyRetention'>,
  request: RetentionRequest,
  between = () => {},
): RetentionResult {
  for (;;) {
    const result = store.applyRetention(request);
    if (result.archived || result.reason !== null) return result;
    between();
  }
}
