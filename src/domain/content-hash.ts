import { hash } from 'node:crypto';

/** Names a content: the first 16 hexadecimal digits of its SHA-256, which is enough to tell one version of a file from another. */
export function contentHash(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex').slice(0, 16);
}
