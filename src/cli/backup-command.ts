import { cpSync, existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { copyKeyFile } from '../access/copy-key-file.ts';
import { keyFilePath } from '../access/key-file.ts';
import { analyticsFiles } from '../analytics/analytics-files.ts';
import { loadConfig } from '../config/config.ts';
import { readEnv } from '../config/env.ts';
import { copyLog } from '../events/copy-log.ts';
import { makeFolderDurably } from '../files/make-folder-durably.ts';
import { operatorTokenPath } from '../secrets/operator-token.ts';
import { CommandLineError } from './command-line-error.ts';
import { logFailure } from './log-folder.ts';
import { printResult } from './output.ts';

export function backupCommand(): Command {
  return new Command('backup')
    .summary('copy all that is kept into another folder')
    .description(
      'Copies the data folder and the secret file into a new or empty folder, in which a server can start as it is. A server may be ' +
        'running: all that it had acknowledged when the copy began is in it. The logs are checked as they are copied. The analytics ' +
        'store is left out, since the first start derives it again. Keep the copy as safe as the original: it has the secrets.',
    )
    .argument('<folder>', 'where to; made when missing')
    .addHelpText(
      'after',
      `
Examples:
  $ marketplace backup /backup/marketplace/2026-11-21`,
    )
    .action(backup);
}

/**
 * The order matters while a server runs. Keys come after the ledger, so that no account of a session is missing and its number given to
 * another; secrets after all that they signed and sealed; and what the retention drops from the ledger is in `sealed` by then.
 */
async function backup(named: string): Promise<void> {
  const { config } = loadConfig(readEnv());
  const { dataDir, secretFile } = config;
  const target = resolve(named);
  if (existsSync(target) && readdirSync(target).length > 0) throw new CommandLineError(`${target} is not empty`);
  const { ledgerFolder, sealedFolder } = analyticsFiles(dataDir);
  if (!existsSync(ledgerFolder)) throw new CommandLineError(`there is no ledger in ${dataDir} yet (see SVC_DATA_DIR)`);
  try {
    makeFolderDurably(target);
    const copies = analyticsFiles(target);
    const ledger = copyLog(ledgerFolder, copies.ledgerFolder);
    if (existsSync(sealedFolder)) copyLog(sealedFolder, copies.sealedFolder);
    copyJournal(join(dataDir, 'journal'), join(target, 'journal'));
    await copyKeyFile(keyFilePath(dataDir), keyFilePath(target));
    for (const [from, to] of [
      [join(dataDir, 'catalogs'), join(target, 'catalogs')],
      [operatorTokenPath(dataDir), operatorTokenPath(target)],
      [secretFile, join(target, 'secrets.json')],
    ] as const) {
      if (existsSync(from)) cpSync(from, to, { recursive: true });
    }
    printResult(`${ledger.records} records of the ledger, and all that goes with them, are in ${target}`);
  } catch (fault) {
    throw logFailure(fault);
  }
}

/** Each epoch is a log of its own. One that goes meanwhile was of sessions that are over. */
function copyJournal(folder: string, target: string): void {
  if (!existsSync(folder)) return;
  makeFolderDurably(target);
  for (const epoch of readdirSync(folder)) {
    if (!/^\d+$/.test(epoch)) continue;
    try {
      copyLog(join(folder, epoch), join(target, epoch));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
}
