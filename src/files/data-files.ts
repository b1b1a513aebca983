import { join } from 'node:path';

/** Paths of the analytics data in a data folder. */
export interface DataFiles {
  /** The event log from which all figures are computed. */
  readonly ledgerFolder: string;
  /** Figures of days whose sessions are deleted (`CounterArchive`). Created with the first of them. */
  readonly archiveFolder: string;
  /** A SQLite file, which can be rebuilt from the other two. */
  readonly analyticsStoreFile: string;
}

export function dataFiles(dataDir: string): DataFiles {
  return {
    ledgerFolder: join(dataDir, 'ledger'),
    archiveFolder: join(dataDir, 'sealed'),
    analyticsStoreFile: join(dataDir, 'analytics.sqlite'),
  };
}
