import { hash } from 'node:crypto';

/** Returns the first 16 hex digits of the SHA-256 of a file, which identify a version of the file. */
export function contentHash(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex').slice(0, 16);
}
