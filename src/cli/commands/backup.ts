import { chmodSync, cpSync, existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { auditLogPath, SqliteAuditLog } from '../../audit/sqlite-audit-log.ts';
import { copyKeyFile, keyFilePath, readKeyFileNumbers } from '../../auth/key-file.ts';
import { keyUsePath } from '../../auth/key-use-file.ts';
import { operatorTokenPath } from '../../auth/operator-token.ts';
import { bounds } from '../../bounds.ts';
import { loadConfig } from '../../config/config.ts';
import { nodeFileSystem } from '../../event-log/log-files.ts';
import { copyLog, logSizeBytes, readsPerCopy, type VerifyLogOptions } from '../../event-log/verify-log.ts';
import {
  type AuditLogEnd,
  type DataInventory,
  readDataInventory,
  writeDataInventory,
} from '../../files/data-inventory.ts';
import { dataPaths } from '../../files/data-paths.ts';
import { createFolderDurably, fsyncPath } from '../../files/durable-files.ts';
import { readTestClockDays, writeTestClockDays } from '../../files/test-clock-file.ts';
import { CommandLineError, defineCommand } from '../command.ts';
import { printJson, printNotice, printResult } from '../output.ts';
import { runWithProgress } from '../progress-bar.ts';

export function createCommand(): Command {
  return defineCommand('backup', {
    description:
      'Copies the data folder into a new or empty folder, in which a server can start. A server may be running: the copy contains everything ' +
      'that the server had acknowledged before the backup started. The logs are verified while they are copied. The analytics store is not copied, ' +
      'because the first start rebuilds it. A secret file outside the data folder (SVC_SECRET_FILE) is not copied either. A secret file in ' +
      'the data folder is copied: protect the copy like the original.',
    examples: [
      'marketplace backup /backup/marketplace/2026-11-21',
      'marketplace backup /backup/marketplace/2026-11-22 --json | jq .ledger_records',
    ],
    exitCodes: { 3: null, 130: null },
    json: 'one object: folder, ledger_records, has_secrets',
  })
    .argument('<folder>', 'target folder; created if it does not exist')
    .action(backUpDataFolder);
}

type CopyOptions = Pick<VerifyLogOptions, 'onBytesRead' | 'signal'>;

/**
 * Copies the data folder into another folder. The order of the copies is fixed, because a running server may change files during the copy.
 * The archive of old figures is copied after the ledger, because the server deletes ledger records only after it has archived their
 * figures. Keys are copied after the ledger, so that the copied keys include the account of every copied session. Secrets are copied after
 * all data that is signed with the secrets. The audit log and the inventory are copied last.
 */
async function backUpDataFolder(targetFolder: string, output: { readonly json?: true }): Promise<void> {
  const { config } = loadConfig();
  const { dataDir, secretFile } = config;
  const target = resolve(targetFolder);
  // A secret file outside the data folder is not copied: a copy of the data must be useless without the secrets.
  const hasSecrets = dirname(secretFile) === dataDir;
  if (target === dataDir || target.startsWith(`${dataDir}/`)) {
    throw new CommandLineError(`${target} is inside the data folder, which would be copied into itself`);
  }
  if (existsSync(target) && readdirSync(target).length > 0) throw new CommandLineError(`${target} is not empty`);
  const { ledgerFolder, journalFolder: journal, archiveFolder } = dataPaths(dataDir);
  if (!existsSync(ledgerFolder)) throw new CommandLineError(`there is no ledger in ${dataDir} yet (see SVC_DATA_DIR)`);
  const daysAtStart = readTestClockDays(dataDir);
  createFolderDurably(target);
  // Marked before the first copy, because an interrupted backup must not become a folder without a test clock.
  if (daysAtStart !== null) writeTestClockDays(target, daysAtStart);
  // The permissions are restricted even if the folder already exists, because a server may later use the folder as its data folder.
  chmodSync(target, 0o700);
  const copies = dataPaths(target);
  const bytes = [ledgerFolder, archiveFolder, ...journalLogFolders(journal)].reduce(
    (sum, log) => sum + logBytesOrZero(log),
    0,
  );
  const { ledger: { acceptedStart } = {}, hasUnitKey } = readDataInventory(dataDir).inventory;
  const progress = { total: bytes * readsPerCopy, unit: null };
  const { ledger, sealed } = await runWithProgress(output, progress, async (onBytesRead, signal) => {
    const options: CopyOptions = { signal, onBytesRead };
    const ledger = await copyLog(ledgerFolder, copies.ledgerFolder, options);
    const sealed = existsSync(archiveFolder) ? await copyLog(archiveFolder, copies.archiveFolder, options) : null;
    await copyJournal(journal, copies.journalFolder, options);
    return { ledger, sealed };
  });
  await copyKeyFile(keyFilePath(dataDir), keyFilePath(target));
  // The test clock is read last, because no copied record may be later than the time of the copied clock.
  const advancedDays = readTestClockDays(dataDir);
  if (advancedDays !== null) writeTestClockDays(target, advancedDays);
  for (const [from, to] of [
    [join(dataDir, 'catalogs'), join(target, 'catalogs')],
    [operatorTokenPath(dataDir), operatorTokenPath(target)],
    [keyUsePath(dataDir), keyUsePath(target)],
    ...(hasSecrets ? [[secretFile, join(target, 'secrets.json')] as const] : []),
  ] as const) {
    if (existsSync(from)) copyAndSync(from, to);
  }
  // Each entry is written before its change, so the audit log that is copied last has the entries of all copied changes.
  const audit = await copyAuditLog(dataDir, target);
  const inventory: DataInventory = {
    ledger: { position: ledger.position, crc: ledger.crc, ...(acceptedStart !== undefined && { acceptedStart }) },
    ...(sealed !== null && { sealed: { position: sealed.position, crc: sealed.crc } }),
    keys: readKeyFileNumbers(keyFilePath(target)),
    ...(hasUnitKey && { hasUnitKey }),
    ...(audit !== null && { audit }),
  };
  writeDataInventory(target, inventory, advancedDays);
  if (!hasSecrets) printNotice(`${secretFile} is outside the data folder and was not copied: back it up separately`);
  if (output.json) printJson({ folder: target, ledger_records: ledger.records, has_secrets: hasSecrets });
  else printResult(`copied ${ledger.records} records of the ledger and all other data to ${target}`);
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

/** Copies the journal, which is a folder of logs. Skips an expired log that the server deletes during the copy. */
async function copyJournal(journal: string, target: string, options: CopyOptions): Promise<void> {
  if (!existsSync(journal)) return;
  createFolderDurably(target);
  for (const log of journalLogFolders(journal)) {
    try {
      await copyLog(log, join(target, basename(log)), options);
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

/** Copies a file or a folder of files, and waits until the copy is on disk. */
function copyAndSync(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
  const files = statSync(to).isDirectory() ? [...readdirSync(to).map((name) => join(to, name)), to] : [to];
  for (const path of [...files, dirname(to)]) fsyncPath(path);
}
