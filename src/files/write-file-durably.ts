import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fsyncPath } from './sync-path.ts';

/**
 * Writes a whole file so that after a power cut it is there in full or not at all: temporary name, sync, rename, sync of the
 * folder. Nobody but its owner may read it. Content too large for memory comes in pieces. Throws the error of the system, or of
 * what makes the pieces; then the file is as it was, unless only the last sync failed.
 */
export function writeFileDurably(path: string, content: string | Uint8Array | Generator<Uint8Array, void>): void {
  const temporary = `${path}.new`;
  const file = openSync(temporary, 'w', 0o600);
  try {
    if (typeof content === 'string' || content instanceof Uint8Array) writeFileSync(file, content);
    else for (const piece of content) writeFileSync(file, piece);
    fsyncSync(file);
  } catch (error) {
    rmSync(temporary, { force: true });
    // The system does not name the file of a descriptor.
    if (error instanceof Error && 'syscall' in error) throw Object.assign(error, { path: temporary });
    throw error;
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  fsyncPath(dirname(path));
}
