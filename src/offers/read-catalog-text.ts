import { isUtf8 } from 'node:buffer';
import { readFileSync, statSync } from 'node:fs';
import { bounds } from '../bounds.ts';

/**
 * The text of a catalog file, or why there is none. A text in another encoding is refused: decoded leniently, a lender would
 * be shown under a name full of replacement characters.
 */
export function readCatalogText(file: string): { ok: true; text: string } | { ok: false; problem: string } {
  try {
    // Looked at first, so that a mistaken path to something huge is not read, and one to a pipe not waited for.
    const stats = statSync(file);
    if (!stats.isFile()) return { ok: false, problem: 'must be a file' };
    if (stats.size > bounds.catalogFileBytesMax) {
      return { ok: false, problem: `must be at most ${bounds.catalogFileBytesMax} bytes long` };
    }
    const bytes = readFileSync(file);
    // The file may have grown since.
    if (bytes.length > bounds.catalogFileBytesMax) {
      return { ok: false, problem: `must be at most ${bounds.catalogFileBytesMax} bytes long` };
    }
    if (!isUtf8(bytes)) return { ok: false, problem: `must be UTF-8, which line ${firstInvalidUtf8Line(bytes)} is not` };
    // A byte order mark stays, to be named as what is wrong.
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch (error) {
    return { ok: false, problem: `cannot be read: ${(error as Error).message}` };
  }
}

/** The first line, from 1, that is not UTF-8. No character of several bytes contains one that looks like a line's end. */
function firstInvalidUtf8Line(bytes: Buffer): number {
  let line = 1;
  for (let start = 0; ; line++) {
    const end = bytes.indexOf(0x0a, start);
    if (end < 0 || !isUtf8(bytes.subarray(start, end))) return line;
    start = end + 1;
  }
}
