import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Creates a folder and what leads to it, for nobody else to look into, and returns the first that was missing, or null. Throws the
 * error of the system, also where something else has the name. `mkdirSync` with `recursive` never returns where a file
 * system has the parent and says that it has not, as `/proc` does (seen with Node.js 22.23).
 */
export function createPrivateFolder(folder: string): string | null {
  const absolute = resolve(folder);
  const missing: string[] = [];
  for (let path = absolute; !existsSync(path) && path !== dirname(path); path = dirname(path)) missing.unshift(path);
  for (const path of missing.length === 0 ? [absolute] : missing) {
    if (isFolder(path)) continue;
    try {
      mkdirSync(path, 0o700);
    } catch (error) {
      // Somebody else may have been faster.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder(path)) throw error;
    }
  }
  return missing[0] ?? null;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
