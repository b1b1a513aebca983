import { join } from 'node:path';

/** Paths of the logs and the analytics in a data folder. */
export interface DataFiles {
  /** Folder of the event log from which all figures are computed. */
  readonly ledgerFolder: string;
  /** Folder of the log of the pocket fields. */
  readonly journalFolder: string;
  /** Folder of the figures of days whose sessions are deleted (`CounterArchive`). Created for the first archived day. */
  readonly archiveFolder: string;
  /** SQLite file that can be rebuilt from the ledger and the archive. */
  readonly analyticsStoreFile: string;
}

export function dataFiles(dataDir: string): DataFiles {
  return {
    ledgerFolder: join(dataDir, 'ledger'),
    journalFolder: join(dataDir, 'journal'),
    archiveFolder: join(dataDir, 'sealed'),
    analyticsStoreFile: join(dataDir, 'analytics.sqlite'),
  };
}
