import { renameSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DataFiles } from './analytics-files.ts';
import { deleteAnalyticsDatabase } from './analytics-schema.ts';
import type { ProjectionTotals } from './ledger-fold.ts';
import { LedgerFollower } from './ledger-follower.ts';

export interface RebuildOptions {
  /** Nobody may have the store open that is to be replaced, if there is one. */
  readonly files: DataFiles;
  /** Position of the last record of the ledger. */
  readonly upToPosition: number;
  /** Told how many more records were folded, after each batch. */
  readonly onProgress?: (records: number) => void;
  /** Told, in words, what the figures will leave out. */
  readonly onMissingRecords: (what: string) => void;
  /** Gives up, and rejects with its reason. */
  readonly signal?: AbortSignal;
}

/**
 * Derives the analytics store from the ledger's records and the sealed figures alone, beside the one there is, and then puts it in its place. An
 * end at any moment leaves the old store, the new one, or none, which the service's next start derives by itself. It gives way
 * to the event loop between batches.
 */
export async function rebuildAnalyticsStore(options: RebuildOptions): Promise<ProjectionTotals> {
  const { files, upToPosition, onProgress, onMissingRecords, signal } = options;
  const { analyticsStoreFile } = files;
  const fresh = `${analyticsStoreFile}.rebuilt`;
  deleteAnalyticsDatabase(fresh);
  let totals: ProjectionTotals;
  try {
    const follower = new LedgerFollower({ ...files, analyticsStoreFile: fresh }, onMissingRecords);
    try {
      for (let folded = follower.projectedPosition; folded < upToPosition; folded = follower.projectedPosition) {
        follower.applyBatch(upToPosition);
        onProgress?.(follower.projectedPosition - folded);
        await nextTurn();
        signal?.throwIfAborted();
      }
      totals = follower.getTotals();
    } finally {
      // What SQLite keeps beside the file goes into it and away when it is closed.
      follower.close();
    }
  } catch (fault) {
    deleteAnalyticsDatabase(fresh);
    throw fault;
  }
  deleteAnalyticsDatabase(analyticsStoreFile);
  renameSync(fresh, analyticsStoreFile);
  return totals;
}
