import { cpSync, existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { copyKeyFile } from '../access/copy-key-file.ts';
import { keyFilePath } from '../access/key-file.ts';
import { analyticsFiles } from '../analytics/analytics-files.ts';
import { loadConfig } from '../config/config.ts';
import { readEnv } from '../config/env.ts';
import { copyLog } from '../events/copy-log.ts';
import { makeFolderDurably } from '../files/make-folder-durably.ts';
import { operatorTokenPath } from '../secrets/operator-token.ts';
import { CommandLineError } from './command-line-error.ts';
import { interruptible } from './interruptible.ts';
import { logFailure } from './log-folder.ts';
import { printJson, printResult } from './output.ts';

/**
 * The order matters while a server runs. Keys come after the ledger, so that no account of a session is missing and its number given to
 * another; secrets after all that they signed and sealed; and what the retention drops from the ledger is in `sealed` by then.
 */
export async function backup(named: string, { json }: { readonly json?: true }): Promise<void> {
  const { config } = loadConfig(readEnv());
  const { dataDir, secretFile } = config;
  const target = resolve(named);
  if (existsSync(target) && readdirSync(target).length > 0) throw new CommandLineError(`${target} is not empty`);
  const { ledgerFolder, sealedFolder } = analyticsFiles(dataDir);
  if (!existsSync(ledgerFolder)) throw new CommandLineError(`there is no ledger in ${dataDir} yet (see SVC_DATA_DIR)`);
  try {
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
      [secretFile, join(target, 'secrets.json')],
    ] as const) {
      if (existsSync(from)) cpSync(from, to, { recursive: true });
    }
    if (json) printJson({ folder: target, ledger_records: ledger.records });
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
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}
