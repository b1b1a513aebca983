import { join } from 'node:path';

/** Where the analytics of a data folder come from and where they are kept. */
export interface DataFiles {
  /** The log that every figure follows from. */
  readonly ledgerFolder: string;
  /** Figures of days whose sessions are gone (`CounterArchive`). Made when the first is. */
  readonly archiveFolder: string;
  /** The SQLite file; its `-wal` and `-shm` lie beside it. Derived from the other two. */
  readonly analyticsStoreFile: string;
}

export function dataFiles(dataDir: string): DataFiles {
  return {
    ledgerFolder: join(dataDir, 'ledger'),
    archiveFolder: join(dataDir, 'sealed'),
    analyticsStoreFile: join(dataDir, 'analytics.sqlite'),
  };
}
