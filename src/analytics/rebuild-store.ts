import { renameSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AnalyticsFiles } from './analytics-files.ts';
import { dropAnalyticsDatabase } from './analytics-schema.ts';
import type { FoldTotals } from './ledger-fold.ts';
import { LedgerFollower } from './ledger-follower.ts';

export interface RebuildOptions {
  /** Nobody may have the store open that is to be replaced, if there is one. */
  readonly files: AnalyticsFiles;
  /** Position of the last record of the ledger. */
  readonly upToPosition: number;
  /** Told how many more records were folded, after each batch. */
  readonly onFolded?: (records: number) => void;
  /** Told, in words, what the figures will leave out. */
  readonly onMissing: (what: string) => void;
  /** Gives up, and rejects with its reason. */
  readonly signal?: AbortSignal;
}

/**
 * Derives the analytics store from the ledger's records and the sealed figures alone, beside the one there is, and then puts it in its place. An
 * end at any moment leaves the old store, the new one, or none, which the service's next start derives by itself. It gives way
 * to the event loop between batches.
 */
export async function rebuildStore(options: RebuildOptions): Promise<FoldTotals> {
  const { files, upToPosition, onFolded, onMissing, signal } = options;
  const { storeFile } = files;
  const fresh = `${storeFile}.rebuilt`;
  dropAnalyticsDatabase(fresh);
  let totals: FoldTotals;
  try {
    const follower = new LedgerFollower({ ...files, storeFile: fresh }, onMissing);
    try {
      for (let folded = follower.foldedPosition; folded < upToPosition; folded = follower.foldedPosition) {
        follower.fold(upToPosition);
        onFolded?.(follower.foldedPosition - folded);
        await nextTurn();
        signal?.throwIfAborted();
      }
      totals = follower.totals();
    } finally {
      // What SQLite keeps beside the file goes into it and away when it is closed.
      follower.close();
    }
  } catch (fault) {
    dropAnalyticsDatabase(fresh);
    throw fault;
  }
  dropAnalyticsDatabase(storeFile);
  renameSync(fresh, storeFile);
  return totals;
}
