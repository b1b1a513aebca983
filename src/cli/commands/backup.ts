import { chmodSync, cpSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { auditLogPath, SqliteAuditLog } from '../../audit/sqlite-audit-log.ts';
import { copyKeyFile, keyFilePath, readKeyFileNumbers } from '../../auth/key-file.ts';
import { keyUsePath } from '../../auth/key-use-file.ts';
import { operatorTokenPath } from '../../auth/operator-token.ts';
import { bounds } from '../../bounds.ts';
import { loadConfig } from '../../config/config.ts';
import { type CopyLogOptions, copyLog, readsPerCopy } from '../../event-log/copy-log.ts';
import { nodeFileSystem } from '../../event-log/log-files.ts';
import { logSizeBytes } from '../../event-log/verify-log.ts';
import { copyDatabase } from '../../files/copy-database.ts';
import {
  type AuditLogEnd,
  type DataInventory,
  readDataInventory,
  writeDataInventory,
} from '../../files/data-inventory.ts';
import { assertFinishedBackup, dataPaths, unfinishedBackupPath } from '../../files/data-paths.ts';
import { createFolderDurably, fsyncPath, writeFileDurably } from '../../files/durable-files.ts';
import { folderLockPath, lockFolder } from '../../files/folder-lock.ts';
import { readTestClockDays, writeTestClockDays } from '../../files/test-clock-file.ts';
import { snapshotContentPath } from '../../snapshots/snapshot-files.ts';
import { CommandLineError, defineCommand } from '../command.ts';
import { printJson, printNotice, printResult } from '../output.ts';
import { runWithProgress } from '../progress-bar.ts';
import { findShardFolders } from './shard-folders.ts';

export function createCommand(): Command {
  return defineCommand('backup', {
    description:
      'Copies the data folder into a new or empty folder, in which a server can start. A server may be running: the copy contains everything ' +
      'that the server had acknowledged before the backup started. The logs are verified while they are copied. A secret file outside the ' +
      'data folder (SVC_SECRET_FILE) is not copied. A secret file in the data folder is copied: protect the copy like the original. With ' +
      '--base, files and pages of the analytics that an earlier backup already has take no space: the new folder shares them by hard links.',
    examples: [
      'marketplace backup /backup/marketplace/2026-11-21',
      'marketplace backup /backup/marketplace/2026-11-22 --base /backup/marketplace/2026-11-21',
      'marketplace backup /backup/marketplace/2026-11-23 --json | jq .ledger_records',
    ],
    exitCodes: { 3: null, 130: null },
    json: 'one object: folder, ledger_records, has_secrets',
  })
    .argument('<folder>', 'target folder; created if it does not exist')
    .option('--base <folder>', 'earlier backup on the same file system, which is not changed')
    .action(backUpDataFolder);
}

interface BackupOptions {
  readonly base?: string;
  readonly json?: true;
}

/** Data folder and target of a backup. */
interface BackupFolders {
  readonly dataDir: string;
  readonly target: string;
  /** Earlier backup, or null. */
  readonly base: string | null;
}

/**
 * Copies the data folder with the folders of all shards into another folder. The order of the copies is fixed, because a running server may
 * change files during the copy. The analytics store and the snapshot are copied before the ledger, because a start refuses a store that has
 * more records than the ledger, and uses no snapshot of later records. The archive of old figures is copied after the ledger, because the
 * server deletes ledger records only after it has archived their figures. Keys are copied after the ledger, so that the copied keys include
 * the account of every copied session. Secrets are copied after all data that is signed with the secrets. The audit log and the inventory
 * are copied last.
 *
 * Until the copy is complete, a file in the target marks it, and a start refuses it.
 */
async function backUpDataFolder(targetFolder: string, options: BackupOptions): Promise<void> {
  const { dataDir, secretFile } = loadConfig().config;
  const folders = resolveFolders(dataDir, targetFolder, options.base);
  // A service that runs on the base would change the files that the target shares. A folder without the file `lock` was never served.
  const { base } = folders;
  const lock = base !== null && existsSync(folderLockPath(base)) ? lockFolder(base) : null;
  try {
    await copyDataFolder(folders, secretFile, options);
  } finally {
    lock?.release();
  }
}

async function copyDataFolder(folders: BackupFolders, secretFile: string, options: BackupOptions): Promise<void> {
  const { dataDir, target } = folders;
  const daysAtStart = readTestClockDays(dataDir);
  createFolderDurably(target);
  // The permissions are restricted even if the folder already exists, because a server may later use the folder as its data folder.
  chmodSync(target, 0o700);
  writeFileDurably(unfinishedBackupPath(target), 'The backup in this folder is not complete.\n');
  // Marked before the first copy, because an interrupted backup must not become a folder without a test clock.
  if (daysAtStart !== null) writeTestClockDays(target, daysAtStart);
  const shards: CopiedShard[] = [];
  for (const shardDir of findShardFolders(dataDir)) {
    const shard = foldersOfShard(folders, shardDir);
    createFolderDurably(shard.target);
    shards.push({ ...shard, ...(await copyStoreAndLogs(shard, options)) });
  }
  await copyKeyFile(keyFilePath(dataDir), keyFilePath(target));
  // The test clock is read last, because no copied record may be later than the time of the copied clock.
  const advancedDays = readTestClockDays(dataDir);
  if (advancedDays !== null) writeTestClockDays(target, advancedDays);
  // A secret file outside the data folder is not copied: a copy of the data must be useless without the secrets.
  const hasSecrets = dirname(secretFile) === dataDir;
  for (const [from, to] of [
    ...shards.flatMap((shard) => [
      [join(shard.dataDir, 'catalogs'), join(shard.target, 'catalogs')] as const,
      [keyUsePath(shard.dataDir), keyUsePath(shard.target)] as const,
    ]),
    [operatorTokenPath(dataDir), operatorTokenPath(target)],
    ...(hasSecrets ? [[secretFile, join(target, 'secrets.json')] as const] : []),
  ] as const) {
    if (existsSync(from)) copyAndSync(from, to);
  }
  // Each entry is written before its change, so the audit log that is copied last has the entries of all copied changes.
  const audit = await copyAuditLog(dataDir, target);
  const keys = readKeyFileNumbers(keyFilePath(target));
  for (const shard of shards) {
    writeDataInventory(shard.target, { ...describeCopy(shard), keys, ...(audit !== null && { audit }) }, advancedDays);
  }
  rmSync(unfinishedBackupPath(target));
  fsyncPath(target);
  if (!hasSecrets) printNotice(`${secretFile} is outside the data folder and was not copied: back it up separately`);
  const records = shards.reduce((sum, { ledger }) => sum + ledger.records, 0);
  if (options.json) printJson({ folder: target, ledger_records: records, has_secrets: hasSecrets });
  else printResult(`copied ${records} records of the ledger and all other data to ${target}`);
}

/** Folders of a shard, and the ends of its copied logs. */
type CopiedShard = BackupFolders & Awaited<ReturnType<typeof copyStoreAndLogs>>;

/** Returns the folders of one shard of a data folder. */
function foldersOfShard({ dataDir, target, base }: BackupFolders, shardDir: string): BackupFolders {
  const path = relative(dataDir, shardDir);
  return { dataDir: shardDir, target: join(target, path), base: base && join(base, path) };
}

/** Returns what the inventory of a copied shard contains about its own files. */
function describeCopy({ dataDir, ledger, sealed }: CopiedShard): DataInventory {
  const { ledger: { acceptedStart } = {}, hasUnitKey } = readDataInventory(dataDir).inventory;
  return {
    ledger: { position: ledger.position, crc: ledger.crc, ...(acceptedStart !== undefined && { acceptedStart }) },
    ...(sealed !== null && { sealed: { position: sealed.position, crc: sealed.crc } }),
    ...(hasUnitKey && { hasUnitKey }),
  };
}

/** Returns the absolute paths of the folders. Throws `CommandLineError` if they are not suitable. */
function resolveFolders(dataDir: string, targetFolder: string, baseFolder: string | undefined): BackupFolders {
  const target = resolve(targetFolder);
  if (target === dataDir || target.startsWith(`${dataDir}/`)) {
    throw new CommandLineError(`${target} is inside the data folder, which would be copied into itself`);
  }
  if (existsSync(unfinishedBackupPath(target))) {
    throw new CommandLineError(`${target} has a backup that was interrupted; delete the folder`);
  }
  if (existsSync(target) && readdirSync(target).length > 0) throw new CommandLineError(`${target} is not empty`);
  if (!existsSync(dataPaths(dataDir).ledgerFolder)) {
    throw new CommandLineError(`there is no ledger in ${dataDir} yet (see SVC_DATA_DIR)`);
  }
  assertFinishedBackup(dataDir);
  if (baseFolder === undefined) return { dataDir, target, base: null };
  const base = resolve(baseFolder);
  const isBackup = readDataInventory(base).inventory.ledger !== undefined && !existsSync(unfinishedBackupPath(base));
  if (base === dataDir || !isBackup) throw new CommandLineError(`${base} is not a complete backup`);
  return { dataDir, target, base };
}

/** Copies the analytics store, the snapshot, and then the logs, and displays the progress. */
function copyStoreAndLogs({ dataDir, target, base }: BackupFolders, output: { readonly json?: true }) {
  const from = dataPaths(dataDir);
  const to = dataPaths(target);
  const known = base === null ? null : dataPaths(base);
  const logs = [from.ledgerFolder, from.archiveFolder, ...journalLogFolders(from.journalFolder)];
  const logBytes = logs.reduce((sum, log) => sum + logBytesOrZero(log), 0);
  const storeBytes = statSync(from.analyticsStoreFile, { throwIfNoEntry: false })?.size ?? 0;
  const progress = { total: storeBytes + logBytes * readsPerCopy, unit: null };
  return runWithProgress(output, progress, async (onBytesRead, signal) => {
    const options = { signal, onBytesRead };
    if (storeBytes > 0) {
      const problem = await copyDatabase(from.analyticsStoreFile, to.analyticsStoreFile, {
        base: known?.analyticsStoreFile,
        ...options,
      });
      if (problem !== null) {
        printNotice(
          `analytics.sqlite was not copied (${problem}): a start of the copy computes the analytics from the ledger`,
        );
      }
    }
    if (existsSync(from.snapshotFolder)) copySnapshot(from.snapshotFolder, to.snapshotFolder);
    const ledger = await copyLog(from.ledgerFolder, to.ledgerFolder, { base: known?.ledgerFolder, ...options });
    const sealed = existsSync(from.archiveFolder)
      ? await copyLog(from.archiveFolder, to.archiveFolder, { base: known?.archiveFolder, ...options })
      : null;
    await copyJournal(from.journalFolder, to.journalFolder, { base: known?.journalFolder, ...options });
    return { ledger, sealed };
  });
}

/** Copies the audit log. Returns its end, or null if an earlier release wrote the folder, which has no audit log. */
async function copyAuditLog(dataDir: string, target: string): Promise<AuditLogEnd | null> {
  if (!existsSync(auditLogPath(dataDir))) return null;
  const log = new SqliteAuditLog(auditLogPath(dataDir), bounds.auditCommandLockTimeoutMs);
  try {
    await log.copyTo(auditLogPath(target));
  } finally {
    log.close();
  }
  const copy = new SqliteAuditLog(auditLogPath(target), bounds.auditCommandLockTimeoutMs);
  try {
    const [end, first] = [copy.readEnd(), copy.readEntriesAfter(0, 1)[0]];
    return end && first ? { ...end, firstHash: first.hash } : null;
  } finally {
    copy.close();
  }
}

function journalLogFolders(journal: string): string[] {
  if (!existsSync(journal)) return [];
  return readdirSync(journal)
    .filter((name) => /^\d+$/.test(name))
    .map((name) => join(journal, name));
}

/**
 * Copies the journal, which is a folder of logs. Skips an expired log that the server deletes during the copy. `base` is the journal of an
 * earlier backup.
 */
async function copyJournal(journal: string, target: string, { base, ...options }: CopyLogOptions): Promise<void> {
  if (!existsSync(journal)) return;
  createFolderDurably(target);
  for (const log of journalLogFolders(journal)) {
    const name = basename(log);
    try {
      await copyLog(log, join(target, name), { base: base && join(base, name), ...options });
    } catch (error) {
      if (existsSync(log)) throw error;
    }
  }
}

/** Returns the size of a log in bytes for the progress bar, or 0 if the log cannot be read; copying the log then reports the error. */
function logBytesOrZero(log: string): number {
  try {
    return logSizeBytes(nodeFileSystem, log);
  } catch {
    return 0;
  }
}

/**
 * Copies the snapshot, which contains no pocket field, before the ledger, so that the copied ledger contains its records. A start computes the
 * pieces that the server deletes during the copy from the logs.
 */
function copySnapshot(from: string, to: string): void {
  createFolderDurably(to);
  const content = basename(snapshotContentPath(from));
  const pieces = readdirSync(from).filter((name) => name !== content);
  for (const name of [content, ...pieces]) {
    try {
      copyAndSync(join(from, name), join(to, name));
    } catch (error) {
      if (existsSync(join(from, name))) throw error;
    }
  }
}

/** Copies a file or a folder of files, and waits until the copy is on disk. */
function copyAndSync(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
  const files = statSync(to).isDirectory() ? [...readdirSync(to).map((name) => join(to, name)), to] : [to];
  for (const path of [...files, dirname(to)]) fsyncPath(path);
}
