import { dirname, resolve } from 'node:path';
import { createPrivateFolder } from './make-private-folder.ts';
import { fsyncPath } from './sync-path.ts';

/**
 * Creates a folder and what leads to it, closed to others, and makes their names durable. Also those of folders that exist:
 * whoever made them may have crashed before its sync. Throws the error of the system.
 */
export function createFolderDurably(folder: string): void {
  const absolute = resolve(folder);
  const first = createPrivateFolder(absolute);
  const made = (path: string) => first !== null && path.length >= first.length;
  for (let path = absolute; path !== dirname(path); path = dirname(path)) {
    try {
      fsyncPath(dirname(path));
    } catch (error) {
      // What was there before us may lie in a folder that is not ours to open, or on a file system that has no such sync.
      if (made(path) || !unsyncableCodes.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
}

const unsyncableCodes: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EINVAL', 'ENOTSUP']);
