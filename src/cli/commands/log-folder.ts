import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readDataDir } from '../../config/config.ts';
import { nodeFileSystem } from '../../event-log/log-files.ts';
import { segmentHeaderLength } from '../../event-log/log-format.ts';
import { type LogVerification, logSizeBytes, type VerifyLogOptions, verifyLog } from '../../event-log/verify-log.ts';
import { assertFinishedBackup, listShardFolders, shardsFolder } from '../../files/data-paths.ts';
import { type FolderLock, lockFolder } from '../../files/folder-lock.ts';
import { parseRecordTimeMs } from '../../ledger/ledger-record.ts';
import { CommandLineError } from '../command.ts';
import { checkFolderClock, openLockedFolderClock } from '../folder-clock.ts';
import { runWithProgress } from '../progress-bar.ts';

/** Returns the absolute path of a log folder. If `named` is undefined, returns the path of the ledger in the data folder. */
export function resolveLogFolder(named: string | undefined): string {
  const folder = named === undefined ? join(readDataDir(), 'ledger') : resolve(named);
  if (existsSync(folder)) return folder;
  throw new CommandLineError(`there is no log at ${folder}${named === undefined ? ' yet (see SVC_DATA_DIR)' : ''}`);
}

/**
 * Runs a function that changes the data folder, while no service or other command can use the folder or that of another shard in it. Throws
 * `CommandLineError` if there is no data folder, `FolderInUseError` if the data folder is in use, `DataMissingError` if it is an incomplete
 * backup, and `TestClockMismatchError` if `SVC_TEST_CLOCK` does not suit the folder.
 *
 * @param options without `yes`, the function changes nothing, so a new folder is not marked
 */
export async function withLockedDataFolder(
  dataDir: string,
  { yes }: { readonly yes?: true },
  run: (dataDir: string) => Promise<void>,
): Promise<void> {
  if (!existsSync(dataDir)) throw new CommandLineError(`there is no data folder at ${dataDir} (see SVC_DATA_DIR)`);
  const locks: FolderLock[] = [];
  try {
    // A supervisor locks the folder of the shards, also while it restarts a shard.
    const shards = [shardsFolder(dataDir)].filter((folder) => existsSync(folder));
    for (const folder of [...shards, ...listShardFolders(dataDir)]) locks.push(lockFolder(folder));
    assertFinishedBackup(dataDir);
    if (yes) openLockedFolderClock(dataDir);
    else checkFolderClock(dataDir);
    await run(dataDir);
  } finally {
    for (const lock of locks) lock.release();
  }
}

/** Verifies a log and displays the progress. A signal can interrupt the verification. */
export function checkLogWithProgress(
  folder: string,
  output: { readonly json?: true },
  options: Pick<VerifyLogOptions, 'onRecord'> = {},
): Promise<LogVerification> {
  const total = logSizeBytes(nodeFileSystem, folder);
  return runWithProgress(output, { total, unit: 'bytes' }, (onBytesRead, signal) =>
    verifyLog(nodeFileSystem, folder, { ...options, onBytesRead, signal }),
  );
}

/** Returns the end of a verified ledger in the form that `assertLedgerEnd` expects. */
export function toLedgerEnd({ position, crc, end }: Pick<LogVerification, 'position' | 'crc' | 'end'>) {
  const hadEndMark = end === null || end.offset === segmentHeaderLength;
  return { lastAppendedPosition: position, lastAppendedCrc: crc, hadEndMark };
}

/** Unix times (in milliseconds) of the first and the last record passed to `extendTimeRange`. Ignores records without a time. */
export class LogTimeRange {
  firstMs: number | null = null;
  lastMs: number | null = null;

  extendTimeRange(record: readonly unknown[]): void {
    const ms = parseRecordTimeMs(record);
    if (ms === null) return;
    this.firstMs ??= ms;
    this.lastMs = ms;
  }
}
