import { contentHash } from '../domain/content-hash.ts';

/** Whoever stands behind offers: the name borrowers read, and the name of its logo's file. */
export interface Lender {
  readonly name: string;
  readonly logo: string;
}

/** One image as it is sent. Immutable: another content under the same file name is another logo. */
export interface Logo {
  readonly file: string;
  /** Names the content: the head of its SHA-256, in hexadecimal. */
  readonly hash: string;
  readonly svg: Uint8Array;
}

export function createLogo(file: string, svg: Uint8Array): Logo {
  return { file, hash: contentHash(svg), svg };
}
