/** A file in each encoding in which it is served. */
export interface CompressedFile {
  /** First 16 hexadecimal digits of the SHA-256 of `plain`. */
  readonly hash: string;
  readonly plain: Uint8Array;
  readonly gzip: Uint8Array;
  readonly brotli: Uint8Array;
}
