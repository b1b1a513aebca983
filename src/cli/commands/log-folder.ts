import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readDataDir } from '../../config/config.ts';
import { readEnv } from '../../config/env.ts';
import { nodeFileSystem } from '../../event-log/log-files.ts';
import { segmentHeaderLength } from '../../event-log/log-format.ts';
import { type LogVerification, logSizeBytes, type VerifyLogOptions, verifyLog } from '../../event-log/verify-log.ts';
import { parseRecordTimeMs } from '../../ledger/ledger-record.ts';
import { CommandLineError } from '../command.ts';
import { createProgressBar, progressStreamFor } from '../progress-bar.ts';

/** Returns the absolute path of a log folder. If `named` is undefined, returns the path of the ledger in the data folder. */
export function resolveLogFolder(named: string | undefined): string {
  const folder = named === undefined ? join(readDataDir(readEnv()), 'ledger') : resolve(named);
  if (existsSync(folder)) return folder;
  throw new CommandLineError(`there is no log at ${folder}${named === undefined ? ' yet (see SVC_DATA_DIR)' : ''}`);
}

export async function checkLogWithProgress(
  folder: string,
  output: { readonly json?: true },
  options: Pick<VerifyLogOptions, 'onRecord' | 'signal'>,
): Promise<LogVerification> {
  const total = logSizeBytes(nodeFileSystem, folder);
  const bar = createProgressBar(progressStreamFor(output), { total, unit: 'bytes' });
  const onBytesRead = (bytes: number): void => bar.advance(bytes);
  return verifyLog(nodeFileSystem, folder, { ...options, onBytesRead }).finally(() => bar.clear());
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
