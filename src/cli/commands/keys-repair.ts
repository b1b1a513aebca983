import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { hasKnownKeys, keyFilePath, raiseKeyFileNumbers, readKeyFileNumbers } from '../../auth/key-file.ts';
import { getKeyState, KeyRegistry } from '../../auth/key-registry.ts';
import { readDataDir } from '../../config/config.ts';
import type { Clock } from '../../domain/clock.ts';
import { HighestAccounts } from '../../domain/home-shard.ts';
import { nodeFileSystem } from '../../event-log/log-files.ts';
import { logSizeBytes } from '../../event-log/verify-log.ts';
import { type KeyFileNumbers, readDataInventory, writeDataInventory } from '../../files/data-inventory.ts';
import { dataPaths, listShardFolders } from '../../files/data-paths.ts';
import { readTestClockDays } from '../../files/test-clock-file.ts';
import {
  findKnownNumbersOfShards,
  formatAccounts,
  isOlderKeyFile,
  listLedgerSegments,
} from '../../server/check-data-folder.ts';
import { CommandLineError, defineCommand } from '../command.ts';
import { createCommandRecorder } from '../command-recorder.ts';
import { readFolderClock } from '../folder-clock.ts';
import { printJson, printNotice, printResult } from '../output.ts';
import { runWithProgress } from '../progress-bar.ts';
import { dryRunNotice, type RepairOptions } from './accept-loss.ts';
import { withLockedDataFolder } from './log-folder.ts';
import { findShardFolders } from './shard-folders.ts';

export function createKeysRepairCommand(): Command {
  return defineCommand('repair', {
    summary: 'accept a key file that is missing or older than the ledger',
    description:
      'Accepts that the current key file is lost. The service does not start with a key file that is missing or older than the ledger, ' +
      'because account numbers would be assigned twice. The command reads the whole ledger of each shard and raises the numbers of the key file, so that ' +
      'new accounts and keys get numbers that were never used. If the key file is missing, the command creates an empty key file. Keys ' +
      'that were created after an older key file was copied are invalid, and keys that were revoked after that are valid again. The ' +
      'service must be stopped. Without --yes, the command only prints what it would do.',
    examples: ['marketplace keys repair', 'marketplace keys repair --yes'],
    exitCodes: { 0: 'the key file is accepted, or the changes are printed', 130: null },
    json: 'one object: outcome, key_file, accounts_up_to, keys_up_to, lost_changes, active_keys',
  })
    .option('--yes', 'make the changes')
    .action((options: RepairOptions) =>
      withLockedDataFolder(readDataDir(), options, (dataDir) => repairKeyFile(dataDir, options)),
    );
}

async function repairKeyFile(dataDir: string, options: RepairOptions): Promise<void> {
  const { yes, json } = options;
  const path = keyFilePath(dataDir);
  const known = await findAllKeyNumbers(dataDir, options);
  const isMissing = !existsSync(path);
  if (!isMissing && !hasKnownKeys(path, known.knownKeys)) {
    throw new CommandLineError(
      `${path} is not the key file of this data folder; move it away, then run the command again to begin without keys`,
    );
  }
  const stored = isMissing ? { accounts: [], key: 0, change: 0 } : readKeyFileNumbers(path);
  const isCurrent = !isMissing && !isOlderKeyFile(stored, known);
  const accounts = new HighestAccounts([...known.accounts, ...stored.accounts]).list();
  const accountsUpTo = Math.max(0, ...accounts);
  if (yes && !isCurrent) {
    createCommandRecorder(dataDir, readFolderClock(dataDir))('keys.repair', 'key file', {
      ...{ was_missing: isMissing, lost_changes: Math.max(0, known.change - stored.change) },
      ...{ accounts_up_to: accountsUpTo, keys_up_to: Math.max(known.key, stored.key) },
    });
    // Forgets the lost keys first: an interrupted repair can then be repeated with the raised numbers.
    writeKeyNumbers(dataDir, { ...known, knownKeys: [] });
    raiseKeyFileNumbers(path, known);
    writeKeyNumbers(dataDir, readKeyFileNumbers(path));
  }
  const report = {
    outcome: isCurrent ? 'nothing_to_do' : yes ? 'repaired' : 'would_repair',
    key_file: path,
    accounts_up_to: accountsUpTo,
    keys_up_to: Math.max(known.key, stored.key),
    lost_changes: Math.max(0, known.change - stored.change),
    active_keys: existsSync(path) ? countActiveKeys(path, readFolderClock(dataDir)) : 0,
  };
  if (json) {
    printJson(report);
    return;
  }
  if (isCurrent) {
    printResult(`${path} is not older than the data folder: nothing to do.`);
    return;
  }
  const action = isMissing ? (yes ? 'Created' : 'Would create') : yes ? 'Accepted' : 'Would accept';
  printResult(
    `${action} ${path}. New accounts get numbers above ${formatAccounts({ accounts })}, and new keys get numbers above ${report.keys_up_to}.`,
  );
  if (report.active_keys > 0) {
    printNotice(
      `${report.active_keys} keys are active. Of the last ${report.lost_changes} changes of keys and origins, nothing is known: ` +
        'revoke keys that were revoked before, and create lost keys again.',
    );
  }
  if (!yes) printNotice(dryRunNotice);
}

/** Writes the numbers of the key file to the inventories of all shards. */
function writeKeyNumbers(dataDir: string, keys: KeyFileNumbers): void {
  for (const folder of listShardFolders(dataDir)) {
    writeDataInventory(folder, { ...readDataInventory(folder).inventory, keys }, readTestClockDays(folder));
  }
}

function findAllKeyNumbers(dataDir: string, output: { readonly json?: true }) {
  const ledgers = findShardFolders(dataDir)
    .map(dataPaths)
    .filter((files) => listLedgerSegments(files).length > 0);
  const total = ledgers.reduce((bytes, { ledgerFolder }) => bytes + logSizeBytes(nodeFileSystem, ledgerFolder), 0);
  return runWithProgress(output, { total, unit: 'bytes' }, (onBytesRead, signal) =>
    findKnownNumbersOfShards(dataDir, { readonly: false, ledger: 'all', onBytesRead, signal }),
  );
}

function countActiveKeys(path: string, clock: Clock): number {
  const registry = new KeyRegistry(path, { mustExist: true });
  try {
    return registry.listKeys().filter((key) => getKeyState(key, clock.wallMs()) === 'active').length;
  } finally {
    registry.close();
  }
}
