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
import { toLogCommandError } from './log-folder.ts';

type CopyOptions = Pick<VerifyLogOptions, 'onBytesRead' | 'signal'>;

/**
 * The order matters while a server runs. Keys come after the ledger, so that no account of a session is missing and its number given to
 * another; secrets after all that they signed and sealed; and what the retention drops from the ledger is in `sealed` by then.
 */
export async function backUpDataFolder(named: string, asked: { readonly json?: true }): Promise<void> {
  const { config } = loadConfig(readEnv());
  const { dataDir, secretFile } = config;
  const target = resolve(named);
  // Whoever keeps the secrets apart does so for copies of the data to be worth nothing alone.
  const hasSecrets = dirname(secretFile) === dataDir;
  if (target === dataDir || target.startsWith(`${dataDir}/`)) {
    throw new CommandLineError(`${target} is in the data folder, which is what is to be copied`);
  }
  if (existsSync(target) && readdirSync(target).length > 0) throw new CommandLineError(`${target} is not empty`);
  const { ledgerFolder, archiveFolder } = dataFiles(dataDir);
  if (!existsSync(ledgerFolder)) throw new CommandLineError(`there is no ledger in ${dataDir} yet (see SVC_DATA_DIR)`);
  try {
    createFolderDurably(target);
    // Also one that was there: as closed to others as a data folder, since a server may start in it as it is.
    chmodSync(target, 0o700);
    const copies = dataFiles(target);
    const journal = join(dataDir, 'journal');
    const bytes = [ledgerFolder, archiveFolder, ...journalEpochFolders(journal)].reduce(
      (sum, log) => sum + logBytesOrZero(log),
      0,
    );
    const bar = createProgressBar(progressStreamFor(asked), { total: bytes * copyReadPasses, unit: null });
    const ledger = await runInterruptible(async (signal) => {
      const options: CopyOptions = { signal, onBytesRead: (more) => bar.advance(more) };
      const copied = await copyLog(ledgerFolder, copies.ledgerFolder, options);
      if (existsSync(archiveFolder)) await copyLog(archiveFolder, copies.archiveFolder, options);
      await copyJournal(journal, join(target, 'journal'), options);
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
    if (!hasSecrets)
      printNotice(`${secretFile} is not in it, since it is kept apart from the data: keep a copy of that as well`);
    if (asked.json) printJson({ folder: target, ledger_records: ledger.records, has_secrets: hasSecrets });
    else printResult(`${ledger.records} records of the ledger, and all that goes with them, are in ${target}`);
  } catch (fault) {
    throw toLogCommandError(fault);
  }
}

/** Those of the journal are logs of their own. */
function journalEpochFolders(journal: string): string[] {
  if (!existsSync(journal)) return [];
  return readdirSync(journal)
    .filter((name) => /^\d+$/.test(name))
    .map((name) => join(journal, name));
}

/** An epoch that goes meanwhile was of sessions that are over. */
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

/** In bytes, for the bar alone: what is gone has none, and what cannot be read, the copy itself will say. */
function logBytesOrZero(log: string): number {
  try {
    return logSizeBytes(nodeLogFiles, log);
  } catch {
    return 0;
  }
}

/** A file, or a folder of files. */
function copyAndSync(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
  const files = statSync(to).isDirectory() ? [...readdirSync(to).map((name) => join(to, name)), to] : [to];
  for (const path of [...files, dirname(to)]) fsyncPath(path);
}
