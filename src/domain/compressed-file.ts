import { hash } from 'node:crypto';

/** Content of a static file, uncompressed and in each compressed encoding that the service supports. */
export interface CompressedFile {
  /** First 16 hexadecimal digits of the SHA-256 of the uncompressed content. */
  readonly hash: string;
  readonly plain: Uint8Array;
  readonly gzip: Uint8Array;
  readonly brotli: Uint8Array;
}

/** Returns the first 16 hexadecimal digits of the SHA-256 hash of a file, as an identifier of the file content. */
export function contentHash(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex').slice(0, 16);
}
