import { closeSync, fsyncSync, openSync } from 'node:fs';
import { bounds } from '../bounds.ts';
import { openKeyFile } from './key-file.ts';

/** Copies the key file as of one moment, while others may read and write it. Throws `KeyFileError`. */
export async function copyKeyFile(path: string, target: string): Promise<void> {
  // SQLite writes into the file that is there: so it is nobody else's to read from its first byte on.
  const copy = openSync(target, 'wx', 0o600);
  const database = openKeyFile(path, bounds.apiKeyCommandLockTimeoutMs, true);
  try {
    await database.backup(target);
    fsyncSync(copy);
  } finally {
    database.close();
    closeSync(copy);
  }
}
