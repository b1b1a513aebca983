import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Makes durable what a file holds, or the names in a folder. Throws the error of the system. */
export function fsyncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
