import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { KeyFileError } from '../../auth/key-file.ts';
import { readDataDir } from '../../config/config.ts';
import { readEnv } from '../../config/env.ts';
import { nodeLogFiles } from '../../event-log/log-files.ts';
import { LogRewrittenError } from '../../event-log/log-scanner.ts';
import { LogDamagedError } from '../../event-log/segment-reader.ts';
import { type LogVerification, logSizeBytes, type VerifyLogOptions, verifyLog } from '../../event-log/verify-log.ts';
import { FolderInUseError } from '../../files/folder-lock.ts';
import { CommandLineError, exitCodes } from '../command-line-error.ts';
import { createProgressBar, progressStreamFor } from '../progress-bar.ts';

/** Absolute path of the log that a command is for: the folder it was given, or the ledger of the data folder. */
export function resolveLogFolder(named: string | undefined): string {
  const folder = named === undefined ? join(readDataDir(readEnv()), 'ledger') : resolve(named);
  if (existsSync(folder)) return folder;
  throw new CommandLineError(`there is no log at ${folder}${named === undefined ? ' yet (see SVC_DATA_DIR)' : ''}`);
}

/** What an operator can do something about, as one line; anything else stays as it is. */
export function toLogCommandError(fault: unknown): unknown {
  if (fault instanceof LogDamagedError) {
    return new CommandLineError(fault.message, { cause: fault, exitCode: exitCodes.damage });
  }
  if (fault instanceof FolderInUseError) {
    return new CommandLineError(`${fault.message}; stop it first`, { cause: fault });
  }
  if (fault instanceof LogRewrittenError) {
    return new CommandLineError(`${fault.message}; run the command again`, { cause: fault });
  }
  if (fault instanceof KeyFileError) return new CommandLineError(fault.message, { cause: fault });
  // Of the file system, or of SQLite, which keeps the lock.
  const { code } = fault as { readonly code?: unknown };
  return fault instanceof Error && typeof code === 'string'
    ? new CommandLineError(fault.message, { cause: fault })
    : fault;
}

/** Checks a log from its first record to its last, and shows how far it has got. */
export async function checkLogWithProgress(
  folder: string,
  asked: { readonly json?: true },
  options: Pick<VerifyLogOptions, 'onRecord' | 'signal'>,
): Promise<LogVerification> {
  const bar = createProgressBar(progressStreamFor(asked), { total: logSizeBytes(nodeLogFiles, folder), unit: 'bytes' });
  try {
    return await verifyLog(nodeLogFiles, folder, { ...options, onBytesRead: (bytes) => bar.advance(bytes) });
  } finally {
    bar.clear();
  }
}
