import { readFileSync, statSync } from 'node:fs';
import { bounds } from '../bounds.ts';

/** The text of a catalog file, or why there is none. */
export function readCatalogText(file: string): { ok: true; text: string } | { ok: false; problem: string } {
  try {
    // Looked at first, so that a mistaken path to something huge is not read, and one to a pipe not waited for.
    const stats = statSync(file);
    if (!stats.isFile()) return { ok: false, problem: 'must be a file' };
    if (stats.size > bounds.catalogFileBytesMax) {
      return { ok: false, problem: `must be at most ${bounds.catalogFileBytesMax} bytes long` };
    }
    return { ok: true, text: readFileSync(file, 'utf8') };
  } catch (error) {
    return { ok: false, problem: `cannot be read: ${(error as Error).message}` };
  }
}
