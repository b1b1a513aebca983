/** A file in every encoding that it is served in. */
export interface CompressedFile {
  /** 16 hexadecimal digits of the SHA-256 of `plain`. */
  readonly hash: string;
  readonly plain: Uint8Array;
  readonly gzip: Uint8Array;
  readonly brotli: Uint8Array;
}
