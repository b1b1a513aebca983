import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { keyFilePath } from '../../auth/key-file.ts';
import { systemClock } from '../../domain/clock.ts';
import { nodeFileSystem } from '../../event-log/log-files.ts';
import { verifyLog } from '../../event-log/verify-log.ts';
import { type DataInventory, readDataInventory, writeDataInventory } from '../../files/data-inventory.ts';
import { DataMissingError, dataPaths, findRootDir } from '../../files/data-paths.ts';
import { createFolderDurably, fsyncPath } from '../../files/durable-files.ts';
import { readTestClockDays } from '../../files/test-clock-file.ts';
import {
  assertJournalComplete,
  assertJournalExists,
  assertLedgerEnd,
  assertLedgerOfJournal,
  assertLedgerStart,
  assertShardsComplete,
  type FolderEvidence,
  listLedgerSegments,
  readFolderEvidence,
} from '../../server/check-data-folder.ts';
import { createCommandRecorder } from '../command-recorder.ts';
import { readFolderClock } from '../folder-clock.ts';
import { formatTimestamp, printJson, printNotice, printResult } from '../output.ts';
import { checkLogWithProgress, toLedgerEnd } from './log-folder.ts';

/** Options of the commands that repair a data folder. */
export interface RepairOptions {
  readonly yes?: true;
  readonly json?: true;
}

export const dryRunNotice = 'Nothing has been changed. Add --yes to make the changes.';

/**
 * Accepts that records of the ledger or figures of the archive are missing, so that the service can start. Moves the analytics store to
 * another name, because the next start rebuilds the store, which may have the last copy of the missing figures.
 */
export async function acceptMissingLedger(dataDir: string, options: RepairOptions): Promise<void> {
  const { yes, json } = options;
  const evidence = readFolderEvidence(dataDir, { readonly: false });
  const { ledgerFolder } = evidence.files;
  const exists = existsSync(ledgerFolder);
  const check = exists
    ? await checkLogWithProgress(ledgerFolder, options)
    : { position: 0, crc: 0, end: null, damage: null };
  if (check.damage !== null) throw check.damage;
  const { journalFolder } = evidence.files;
  const journal = check.position === 0 && existsSync(journalFolder) ? await listJournalLogs(journalFolder) : [];
  const rootDir = findRootDir(dataDir);
  const shard = rootDir === dataDir ? 0 : Number(basename(dataDir));
  const problem = findLoss(() => {
    assertShardsComplete(keyFilePath(rootDir), evidence, { number: shard, count: Number.POSITIVE_INFINITY });
    assertLedgerStart(evidence, { keepsStore: false });
    assertLedgerEnd(evidence, toLedgerEnd(check), 'fsync');
    assertLedgerOfJournal(evidence, toLedgerEnd(check), journal);
  });
  let moved: string | null = null;
  if (yes && problem !== null) {
    createCommandRecorder(dataDir, readFolderClock(dataDir))('ledger.accept_loss', basename(problem.path), {
      continues_after: check.position,
    });
    if (!exists) createFolderDurably(ledgerFolder);
    moved = replaceLedgerInInventory(evidence, dataDir, check);
  }
  if (json) {
    const outcome = yes ? 'ledger_accepted' : 'would_accept_ledger';
    printJson({ outcome: problem === null ? 'ledger_not_missing' : outcome, analytics_moved_to: moved });
  } else if (problem === null) {
    printResult(`No records of ${ledgerFolder} are known to be missing: nothing to do.`);
  } else {
    printResult(`${yes ? 'Accepted' : 'Would accept'}: ${problem.path} has lost data.`);
    printResult(`The ledger continues after record ${check.position}. The figures will leave out what is missing.`);
    if (moved !== null) printResult(`The previous figures are in ${moved}.`);
    if (!yes) printNotice(dryRunNotice);
  }
}

/**
 * Accepts that the journal is missing, empty or incomplete, so that the service can start. Creates an empty log if there is none, which
 * proves at the next start that the journal folder is the right one.
 */
export async function acceptMissingJournal(dataDir: string, { yes, json }: RepairOptions): Promise<void> {
  const { journalFolder: journal } = dataPaths(dataDir);
  const evidence = readFolderEvidence(dataDir, { readonly: false });
  const isEmpty = findLoss(() => assertJournalExists(evidence, 1)) !== null;
  const stored = isEmpty ? [] : await listJournalLogs(journal);
  const problem = findLoss(() =>
    assertJournalComplete(evidence, stored, { oldestLiveMs: Number.NEGATIVE_INFINITY, durability: 'fsync' }),
  );
  const isLost = isEmpty || problem !== null;
  if (isLost && yes) {
    createCommandRecorder(dataDir, readFolderClock(dataDir))('journal.accept_loss', 'journal', { was_empty: isEmpty });
    createFolderDurably(journal);
    if (isEmpty) {
      mkdirSync(join(journal, String(systemClock.wallMs()).padStart(16, '0')), { mode: 0o700 });
      fsyncPath(journal);
    }
    writeDataInventory(dataDir, { ...evidence.inventory, journal: [] }, readTestClockDays(dataDir));
  }
  if (json) {
    printJson({ outcome: isLost ? (yes ? 'journal_created' : 'would_create_journal') : 'journal_not_missing' });
  } else if (!isLost) {
    printResult(`${journal} is not missing: nothing to do.`);
  } else {
    const text = isEmpty
      ? `${yes ? 'Created' : 'Would create'} an empty ${journal}. Live sessions lose their pocket fields.`
      : `${yes ? 'Accepted' : 'Would accept'}: ${journal} is incomplete. Some live sessions lose pocket fields.`;
    printResult(text);
    if (!yes) printNotice(dryRunNotice);
  }
}

async function listJournalLogs(journal: string) {
  const names = nodeFileSystem.listFiles(journal).filter((name) => /^\d{16}$/.test(name));
  const logs: { readonly name: string; readonly position: number }[] = [];
  for (const name of names) {
    const { position, damage } = await verifyLog(nodeFileSystem, join(journal, name));
    if (damage !== null) throw damage;
    logs.push({ name, position });
  }
  return logs;
}

/** Returns the error that `check` throws if data is missing; otherwise null. */
function findLoss(check: () => void): DataMissingError | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof DataMissingError) return error;
    throw error;
  }
}

/**
 * Updates the inventory after a repair removed records from a log of a data folder. Moves the analytics store to another name if the log is
 * the ledger. Does nothing for a log that is not part of a data folder. Returns the new path of the analytics store, or null.
 */
export function acceptRemovedRecords(
  log: string,
  end: { readonly position: number; readonly crc: number },
): string | null {
  const [dataDir, parent] = [dirname(log), dirname(dirname(log))];
  if (log === dataPaths(dataDir).ledgerFolder) {
    return replaceLedgerInInventory(readFolderEvidence(dataDir, { readonly: false }), dataDir, end);
  }
  if (log === dataPaths(dataDir).archiveFolder) {
    const { inventory } = readDataInventory(dataDir);
    if (inventory.sealed) {
      writeDataInventory(dataDir, { ...inventory, sealed: { ...end } }, readTestClockDays(dataDir));
    }
  } else if (dataDir === dataPaths(parent).journalFolder) {
    const { inventory } = readDataInventory(parent);
    const journal = inventory.journal?.map((each) =>
      each.name === basename(log) ? { ...each, position: end.position } : each,
    );
    if (journal) writeDataInventory(parent, { ...inventory, journal }, readTestClockDays(parent));
  }
  return null;
}

/** Writes the current ledger and archive to the inventory, and moves the analytics store to another name. */
function replaceLedgerInInventory(
  { files, inventory, store, archive }: FolderEvidence,
  dataDir: string,
  { position, crc }: { readonly position: number; readonly crc: number },
): string | null {
  const [first = 1] = listLedgerSegments(files);
  const { sealed: _, ledger: __, ...others } = inventory;
  const repaired: DataInventory = {
    // The analytics store, which is moved, may be the only file that knows the highest account numbers.
    keys: { accounts: [...(store?.highestAccounts ?? [])], key: 0, change: 0, knownKeys: [] },
    ...others,
    ledger: { position, crc, acceptedStart: first },
    ...(archive.end.position > 0 && { sealed: archive.end }),
  };
  writeDataInventory(dataDir, repaired, readTestClockDays(dataDir));
  const { analyticsStoreFile: file } = files;
  if (!existsSync(file)) return null;
  const timestamp = formatTimestamp(systemClock.wallMs()).replaceAll(/[-:.]/g, '');
  const target = join(dataDir, `analytics-removed-${timestamp}.sqlite`);
  for (const suffix of ['-shm', '-wal', '']) {
    if (existsSync(file + suffix)) renameSync(file + suffix, target + suffix);
  }
  fsyncPath(dataDir);
  return target;
}
