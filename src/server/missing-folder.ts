import { existsSync } from 'node:fs';
import { OperatorError } from '../domain/operator-error.ts';
import type { DataFiles } from '../files/data-files.ts';

/** A folder of the data folder is missing. A start would create it empty, and lose for good what other files still tell. */
export class FolderMissingError extends OperatorError {
  override readonly name = 'FolderMissing';
  readonly folder: string;

  constructor(folder: string, rest: string) {
    super(`${folder} is missing, ${rest}`);
    this.folder = folder;
  }
}

/** Throws `FolderMissingError` when the ledger is gone but not the figures derived from it: an empty ledger would erase them. */
export function assertLedgerFolder({ ledgerFolder, analyticsStoreFile }: DataFiles): void {
  if (existsSync(ledgerFolder) || !existsSync(analyticsStoreFile)) return;
  throw new FolderMissingError(
    ledgerFolder,
    `and ${analyticsStoreFile} may be the last copy of its figures: put the folder back, or restore a backup; to begin with an empty ` +
      'ledger, move that file away',
  );
}

/** Throws `FolderMissingError` when the journal is gone although the ledger has live sessions. */
export function assertJournalFolder(journalFolder: string, liveSessions: number): void {
  if (liveSessions === 0 || existsSync(journalFolder)) return;
  throw new FolderMissingError(
    journalFolder,
    `with the pocket fields of ${liveSessions} live sessions: put the folder back, or accept that these sessions have to be ` +
      'sent their inputs again, by marketplace log repair --accept-missing-journal --yes',
  );
}
