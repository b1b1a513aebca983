import { join } from 'node:path';

export interface DataPaths {
  /** Folder of the ledger, the event log from which all analytics are computed. */
  readonly ledgerFolder: string;
  /** Folder of the journal, which stores the pocket fields of live sessions. */
  readonly journalFolder: string;
  /**
   * Folder of the counter archive: analytics of days whose sessions are deleted (`CounterArchive`). The archive folder is created when the
   * first day is archived.
   */
  readonly archiveFolder: string;
  /** SQLite file of the analytics store, which can be rebuilt from the ledger and the archive. */
  readonly analyticsStoreFile: string;
  /** Snapshot of the booked revenue of offers, which can be computed again from the ledger. */
  readonly bookedRevenueFile: string;
}

export function dataPaths(dataDir: string): DataPaths {
  return {
    ledgerFolder: join(dataDir, 'ledger'),
    journalFolder: join(dataDir, 'journal'),
    archiveFolder: join(dataDir, 'sealed'),
    analyticsStoreFile: join(dataDir, 'analytics.sqlite'),
    bookedRevenueFile: join(dataDir, 'booked-revenue.json'),
  };
}

/**
 * Error for a missing folder inside the data folder. The service does not create an empty folder instead, because the service could then
 * delete data that depends on the content of the missing folder.
 */
export class FolderMissingError extends Error {
  override readonly name = 'FolderMissingError';
  readonly folder: string;

  constructor(folder: string, details: string) {
    super(`${folder} is missing, ${details}`);
    this.folder = folder;
  }
}
