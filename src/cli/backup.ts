import { chmodSync, cpSync, existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { copyKeyFile } from '../access/copy-key-file.ts';
import { keyFilePath } from '../access/key-file.ts';
import { analyticsFiles } from '../analytics/analytics-files.ts';
import { loadConfig } from '../config/config.ts';
import { readEnv } from '../config/env.ts';
import { copyLog } from '../events/copy-log.ts';
import { makeFolderDurably } from '../files/make-folder-durably.ts';
import { makePrivateFolder } from '../files/make-private-folder.ts';
import { syncPath } from '../files/sync-path.ts';
import { operatorTokenPath } from '../secrets/operator-token.ts';
import { CommandLineError } from './command-line-error.ts';
import { interruptible } from './interruptible.ts';
import { logFailure } from './log-folder.ts';
import { printJson, printResult, say } from './output.ts';

/**
 * The order matters while a server runs. Keys come after the ledger, so that no account of a session is missing and its number given to
 * another; secrets after all that they signed and sealed; and what the retention drops from the ledger is in `sealed` by then.
 */
export async function backup(named: string, { json }: { readonly json?: true }): Promise<void> {
  const { config } = loadConfig(readEnv());
  const { dataDir, secretFile } = config;
  const target = resolve(named);
  // Whoever keeps the secrets apart does so for copies of the data to be worth nothing alone.
  const hasSecrets = dirname(secretFile) === dataDir;
  if (target === dataDir || target.startsWith(`${dataDir}/`)) {
    throw new CommandLineError(`${target} is in the data folder, which is what is to be copied`);
  }
  if (existsSync(target) && readdirSync(target).length > 0) throw new CommandLineError(`${target} is not empty`);
  const { ledgerFolder, sealedFolder } = analyticsFiles(dataDir);
  if (!existsSync(ledgerFolder)) throw new CommandLineError(`there is no ledger in ${dataDir} yet (see SVC_DATA_DIR)`);
  try {
    // As closed to others as a data folder: a server may start in it as it is.
    makePrivateFolder(target);
    chmodSync(target, 0o700);
    makeFolderDurably(target);
    const copies = analyticsFiles(target);
    const ledger = await interruptible(async (signal) => {
      const copied = await copyLog(ledgerFolder, copies.ledgerFolder, { signal });
      if (existsSync(sealedFolder)) await copyLog(sealedFolder, copies.sealedFolder, { signal });
      await copyJournal(join(dataDir, 'journal'), join(target, 'journal'), signal);
      return copied;
    });
    await copyKeyFile(keyFilePath(dataDir), keyFilePath(target));
    for (const [from, to] of [
      [join(dataDir, 'catalogs'), join(target, 'catalogs')],
      [operatorTokenPath(dataDir), operatorTokenPath(target)],
      ...(hasSecrets ? [[secretFile, join(target, 'secrets.json')] as const] : []),
    ] as const) {
      if (existsSync(from)) copyDurably(from, to);
    }
    if (!hasSecrets)
      say(`${secretFile} is not in it, since it is kept apart from the data: keep a copy of that as well`);
    if (json) printJson({ folder: target, ledger_records: ledger.records, has_secrets: hasSecrets });
    else printResult(`${ledger.records} records of the ledger, and all that goes with them, are in ${target}`);
  } catch (fault) {
    throw logFailure(fault);
  }
}

/** Each epoch is a log of its own. One that goes meanwhile was of sessions that are over. */
async function copyJournal(folder: string, target: string, signal: AbortSignal): Promise<void> {
  if (!existsSync(folder)) return;
  makeFolderDurably(target);
  for (const epoch of readdirSync(folder)) {
    if (!/^\d+$/.test(epoch)) continue;
    try {
      await copyLog(join(folder, epoch), join(target, epoch), { signal });
    } catch (error) {
      if (existsSync(join(folder, epoch))) throw error;
    }
  }
}

/** A file, or a folder of files. */
function copyDurably(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
  const files = statSync(to).isDirectory() ? [...readdirSync(to).map((name) => join(to, name)), to] : [to];
  for (const path of [...files, dirname(to)]) syncPath(path);
}
