import { existsSync, readdirSync } from 'node:fs';
import { type DataPaths, dataPaths, FolderMissingError } from '../files/data-paths.ts';
import { createPrivateFolder, restrictFolderToOwner } from '../files/durable-files.ts';
import { lockFolder } from '../files/folder-lock.ts';
import { openOrCreateSecretFile } from '../secrets/secret-file.ts';
import type { SecretSet } from '../secrets/secret-set.ts';
import type { CleanupStack } from './lifecycle.ts';
import type { ServiceOptions } from './service.ts';

/**
 * Creates and locks the data folder, makes it accessible only to its owner, and loads the secrets. Throws `FolderInUseError` if
 * another process has locked the folder, and `FolderMissingError` if the ledger folder is missing although analytics exist.
 */
export function openDataFolder({ dataDir, secretFile, logger }: ServiceOptions, cleanup: CleanupStack): SecretSet {
  createPrivateFolder(dataDir);
  const lock = lockFolder(dataDir);
  cleanup.addCleanupCallback(() => lock.release());
  // Every file in the folder is created with mode 0600, so a volume that rejects chmod causes a warning and not an error.
  if (!restrictFolderToOwner(dataDir)) {
    logger.warn({ dataDir }, 'data directory is accessible to other users; chmod failed');
  }
  const files = dataPaths(dataDir);
  assertLedgerFolder(files);
  const { ledgerFolder } = files;
  return openOrCreateSecretFile(secretFile, existsSync(ledgerFolder) && readdirSync(ledgerFolder).length > 0);
}

/** Throws `FolderMissingError` if analytics exist without a ledger, because a rebuild from an empty ledger would erase the analytics. */
function assertLedgerFolder({ ledgerFolder, analyticsStoreFile }: DataPaths): void {
  if (existsSync(ledgerFolder) || !existsSync(analyticsStoreFile)) return;
  throw new FolderMissingError(
    ledgerFolder,
    `and ${analyticsStoreFile} may be the last copy of its figures: put the folder back or restore a backup; to start with an ` +
      'empty ledger, move that file away',
  );
}

/** Throws `FolderMissingError` if the journal is missing although the ledger contains live sessions. */
export function assertJournalFolder(journalFolder: string, liveSessions: number): void {
  if (liveSessions === 0 || existsSync(journalFolder)) return;
  throw new FolderMissingError(
    journalFolder,
    `with the pocket fields of ${liveSessions} live sessions: put the folder back, or accept that these sessions must ` +
      'submit their inputs again, by marketplace log repair --accept-missing-journal --yes',
  );
}
