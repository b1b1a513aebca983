import { join } from 'node:path';

/** Where the analytics of a data folder come from and where they are kept. */
export interface AnalyticsFiles {
  /** The log that every figure follows from. */
  readonly ledgerFolder: string;
  /** Figures of days whose sessions are gone (`SealedFigures`). Made when the first is. */
  readonly sealedFolder: string;
  /** The SQLite file; its `-wal` and `-shm` lie beside it. Derived from the other two. */
  readonly storeFile: string;
}

export function analyticsFiles(dataDir: string): AnalyticsFiles {
  return {
    ledgerFolder: join(dataDir, 'ledger'),
    sealedFolder: join(dataDir, 'sealed'),
    storeFile: join(dataDir, 'analytics.sqlite'),
  };
}
