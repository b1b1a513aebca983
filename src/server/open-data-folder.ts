import { serviceActor } from '../audit/audit-log.ts';
import type { Clock } from '../domain/clock.ts';
import type { TestClock } from '../domain/test-clock.ts';
import { assertFinishedBackup, assertShardCount } from '../files/data-paths.ts';
import { createPrivateFolder, restrictFolderToOwner } from '../files/durable-files.ts';
import { lockFolder } from '../files/folder-lock.ts';
import { openOrCreateSecretFile } from '../secrets/secret-file.ts';
import type { SecretSet } from '../secrets/secret-set.ts';
import { assertLedgerStart, type FolderEvidence, listLedgerSegments, readFolderEvidence } from './check-data-folder.ts';
import { openTestClock } from './folder-clock.ts';
import type { CleanupStack } from './lifecycle.ts';
import { type OpenedAudit, openAuditTrail } from './open-audit-trail.ts';
import { type ServiceOptions, sharedDir } from './service.ts';

/**
 * Creates and locks the data folder, makes it accessible only to its owner, opens the audit log, and loads the secrets. Throws
 * `FolderInUseError` if another process has locked the folder, `ShardCountError` if the folder has more shards than the options,
 * `TestClockMismatchError` if the folder has a test clock and the options do not ask for one, or the other way round, and
 * `DataMissingError` if the ledger, its first segments or entries of the audit log are missing, or if the folder is an incomplete backup.
 */
export function openDataFolder(options: ServiceOptions, cleanup: CleanupStack): OpenedDataFolder {
  const { dataDir, secretFile, logger } = options;
  assertShardCount(sharedDir(options), options.shard?.count ?? 1);
  createPrivateFolder(dataDir);
  const lock = lockFolder(dataDir);
  cleanup.addCleanupCallback(() => lock.release());
  assertFinishedBackup(dataDir);
  const testClock = openTestClock(options);
  // Every file in the folder is created with mode 0600, so a volume that rejects chmod causes a warning and not an error.
  if (!restrictFolderToOwner(dataDir)) {
    logger.warn({ dataDir }, 'data directory is accessible to other users; chmod failed');
  }
  const evidence = readFolderEvidence(dataDir, { readonly: false });
  if (evidence.inventoryProblem !== null) {
    logger.warn(
      { problem: evidence.inventoryProblem },
      'inventory of the data folder cannot be used; writing a new one',
    );
  }
  assertLedgerStart(evidence);
  const hasHistory = listLedgerSegments(evidence.files).length > 0 || evidence.inventory.ledger !== undefined;
  const clock = testClock ?? options.clock;
  const audit = openAuditTrail(options, clock, cleanup);
  const secrets = openOrCreateSecretFile(secretFile, hasHistory, () =>
    audit.trail.recorderOf(serviceActor)('secret.create', 'secret 1'),
  );
  return { secrets, evidence, testClock, clock, audit };
}

interface OpenedDataFolder {
  readonly secrets: SecretSet;
  readonly evidence: FolderEvidence;
  readonly testClock: TestClock | null;
  readonly audit: OpenedAudit;
  /** Clock of the service: the test clock, or the clock of the options. */
  readonly clock: Clock;
}
