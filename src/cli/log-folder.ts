import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { KeyFileError } from '../access/key-file.ts';
import { dataDirOf } from '../config/config.ts';
import { readEnv } from '../config/env.ts';
import { FolderInUse } from '../events/folder-lock.ts';
import { LogRewritten } from '../events/log-walk.ts';
import { LogDamaged } from '../events/segment-reader.ts';
import { CommandLineError } from './command-line-error.ts';
import { exitCodes } from './exit-codes.ts';

/** Absolute path of the log that a command is for: the folder it was given, or the ledger of the data folder. */
export function logFolder(named: string | undefined): string {
  const folder = named === undefined ? join(dataDirOf(readEnv()), 'ledger') : resolve(named);
  if (existsSync(folder)) return folder;
  throw new CommandLineError(`there is no log at ${folder}${named === undefined ? ' yet (see SVC_DATA_DIR)' : ''}`);
}

/** What an operator can do something about, as one line; anything else stays as it is. */
export function logFailure(fault: unknown): unknown {
  if (fault instanceof LogDamaged) {
    return new CommandLineError(fault.message, { cause: fault, exitCode: exitCodes.damage });
  }
  if (fault instanceof FolderInUse) {
    return new CommandLineError(`${fault.message}; stop it first`, { cause: fault });
  }
  if (fault instanceof LogRewritten) {
    return new CommandLineError(`${fault.message}; run the command again`, { cause: fault });
  }
  if (fault instanceof KeyFileError) return new CommandLineError(fault.message, { cause: fault });
  // Of the file system, or of SQLite, which keeps the lock.
  const { code } = fault as { readonly code?: unknown };
  return fault instanceof Error && typeof code === 'string'
    ? new CommandLineError(fault.message, { cause: fault })
    : fault;
}
