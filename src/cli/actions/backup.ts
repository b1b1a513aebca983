import { chmodSync, cpSync, existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { copyKeyFile, keyFilePath } from '../../auth/key-file.ts';
import { operatorTokenPath } from '../../auth/operator-token.ts';
import { loadConfig } from '../../config/config.ts';
import { readEnv } from '../../config/env.ts';
import { copyLog, copyReadPasses } from '../../event-log/copy-log.ts';
import { nodeLogFiles } from '../../event-log/log-files.ts';
import { logSizeBytes, type VerifyLogOptions } from '../../event-log/verify-log.ts';
import { dataFiles } from '../../files/data-files.ts';
import { createFolderDurably, fsyncPath } from '../../files/durable-files.ts';
import { CommandLineError } from '../command-line-error.ts';
import { printJson, printNotice, printResult } from '../output.ts';
import { createProgressBar, progressStreamFor } from '../progress-bar.ts';
import { runInterruptible } from '../signals.ts';

type CopyOptions = Pick<VerifyLogOptions, 'onBytesRead' | 'signal'>;

/**
 * Copies the data folder into another folder. A server may be running, so the sequence matters. Keys are copied after the ledger, so
 * that the copy has the account of every session. Secrets are copied after everything that was signed with them. The archive is copied
 * after the ledger, because the retention archives figures before it deletes their records.
 */
export async function backUpDataFolder(targetFolder: string, output: { readonly json?: true }): Promise<void> {
  const { config } = loadConfig(readEnv());
  const { dataDir, secretFile } = config;
  const target = resolve(targetFolder);
  // A secret file outside the data folder is stored there so that copies of the data are useless without it. It is not copied.
  const hasSecrets = dirname(secretFile) === dataDir;
  if (target === dataDir || target.startsWith(`${dataDir}/`)) {
    throw new CommandLineError(`${target} is inside the data folder, which would be copied into itself`);
  }
  if (existsSync(target) && readdirSync(target).length > 0) throw new CommandLineError(`${target} is not empty`);
  const { ledgerFolder, journalFolder: journal, archiveFolder } = dataFiles(dataDir);
  if (!existsSync(ledgerFolder)) throw new CommandLineError(`there is no ledger in ${dataDir} yet (see SVC_DATA_DIR)`);
  createFolderDurably(target);
  // The permissions of an existing folder are restricted too, because a server may start in this folder.
  chmodSync(target, 0o700);
  const copies = dataFiles(target);
  const bytes = [ledgerFolder, archiveFolder, ...journalEpochFolders(journal)].reduce(
    (sum, log) => sum + logBytesOrZero(log),
    0,
  );
  const bar = createProgressBar(progressStreamFor(output), { total: bytes * copyReadPasses, unit: null });
  const ledger = await runInterruptible(async (signal) => {
    const options: CopyOptions = { signal, onBytesRead: (more) => bar.advance(more) };
    const copied = await copyLog(ledgerFolder, copies.ledgerFolder, options);
    if (existsSync(archiveFolder)) await copyLog(archiveFolder, copies.archiveFolder, options);
    await copyJournal(journal, copies.journalFolder, options);
    return copied;
  }).finally(() => bar.clear());
  await copyKeyFile(keyFilePath(dataDir), keyFilePath(target));
  for (const [from, to] of [
    [join(dataDir, 'catalogs'), join(target, 'catalogs')],
    [operatorTokenPath(dataDir), operatorTokenPath(target)],
    ...(hasSecrets ? [[secretFile, join(target, 'secrets.json')] as const] : []),
  ] as const) {
    if (existsSync(from)) copyAndSync(from, to);
  }
  if (!hasSecrets) printNotice(`${secretFile} is outside the data folder and was not copied: back it up separately`);
  if (output.json) printJson({ folder: target, ledger_records: ledger.records, has_secrets: hasSecrets });
  else printResult(`copied ${ledger.records} records of the ledger and all other data to ${target}`);
}

/** Lists the folders of the journal's epochs. Each epoch is a separate log. */
function journalEpochFolders(journal: string): string[] {
  if (!existsSync(journal)) return [];
  return readdirSync(journal)
    .filter((name) => /^\d+$/.test(name))
    .map((name) => join(journal, name));
}

/** Copies the journal. Skips an epoch that the server deletes during the copy, because its sessions have expired. */
async function copyJournal(journal: string, target: string, options: CopyOptions): Promise<void> {
  if (!existsSync(journal)) return;
  createFolderDurably(target);
  for (const epoch of journalEpochFolders(journal)) {
    try {
      await copyLog(epoch, join(target, basename(epoch)), options);
    } catch (error) {
      if (existsSync(epoch)) throw error;
    }
  }
}

/** Returns the size of a log in bytes for the progress bar. Returns 0 for a missing or unreadable log, which the copy reports. */
function logBytesOrZero(log: string): number {
  try {
    return logSizeBytes(nodeLogFiles, log);
  } catch {
    return 0;
  }
}

/** Copies a file, or a folder of files, and makes the copy durable. */
function copyAndSync(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
  const files = statSync(to).isDirectory() ? [...readdirSync(to).map((name) => join(to, name)), to] : [to];
  for (const path of [...files, dirname(to)]) fsyncPath(path);
}
