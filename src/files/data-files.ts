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

/** Error for a missing folder inside the data folder. A start would create an empty folder, and the data in other files would be lost. */
export class FolderMissingError extends Error {
  override readonly name = 'FolderMissingError';
  readonly folder: string;

  constructor(folder: string, details: string) {
    super(`${folder} is missing, ${details}`);
    this.folder = folder;
  }
}
