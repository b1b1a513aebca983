import { writeSync } from 'node:fs';

const neverNotified = new Int32Array(new SharedArrayBuffer(4));

/**
 * Writes a line to standard output synchronously, so that the line is complete even if the process is killed right after
 * the call. Waits if the reader is slow.
 */
export function writeLine(text: string): void {
  const bytes = Buffer.from(`${text}\n`);
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(1, bytes, written);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(neverNotified, 0, 0, 1);
    }
  }
}
