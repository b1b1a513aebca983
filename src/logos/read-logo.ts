import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { bounds } from '../bounds.ts';
import { findSvgProblem } from './svg-problem.ts';

export type ReadLogoResult =
  | { readonly ok: true; readonly svg: Uint8Array }
  /** What is wrong with the file, to follow its name: `does not exist`. */
  | { readonly ok: false; readonly problem: string };

/** Reads one logo file. It never rejects: whatever is wrong with a logo, its lender gets a monogram. */
export async function readLogo(path: string): Promise<ReadLogoResult> {
  let file: FileHandle | null = null;
  try {
    // Not to be waited for, should a pipe stand there.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await file.stat();
    if (!stats.isFile()) return { ok: false, problem: 'is no file' };
    if (stats.size > bounds.logoFileBytesMax) return tooLargeResult;
    const svg = await readUpTo(file, bounds.logoFileBytesMax + 1);
    if (svg.length > bounds.logoFileBytesMax) return tooLargeResult;
    if (!isUtf8(svg)) return { ok: false, problem: 'is no SVG: it is not UTF-8' };
    const problem = findSvgProblem(svg.toString());
    return problem === null ? { ok: true, svg } : { ok: false, problem: `is no SVG: it ${problem}` };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { ok: false, problem: code === 'ENOENT' ? 'does not exist' : `cannot be read: ${code ?? 'unknown fault'}` };
  } finally {
    await file?.close().catch(() => {});
  }
}

const tooLargeResult: ReadLogoResult = { ok: false, problem: `is larger than ${bounds.logoFileBytesMax} bytes` };

/** The file may have grown since it was looked at. */
async function readUpTo(file: FileHandle, most: number): Promise<Buffer> {
  const bytes = Buffer.alloc(most);
  let length = 0;
  while (length < most) {
    const { bytesRead } = await file.read(bytes, length, most - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return Buffer.from(bytes.subarray(0, length));
}
