import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { bounds } from '../bounds.ts';
import { writeFileDurably } from '../files/durable-files.ts';
import { isMissing, readRegularFile } from '../files/regular-file.ts';
import { SecretFileError } from '../secrets/secret-file.ts';

/** Secret token that authorizes operators on the operations listener (docs/contract.md#operations-listener). */
export class OperatorToken {
  readonly #hash: Buffer;

  constructor(text: string) {
    this.#hash = sha256(text);
  }

  /** SHA-256 of the token, as 32 Latin-1 characters. */
  get hash(): string {
    return this.#hash.toString('latin1');
  }

  /** Compares a text with the token in constant time. */
  matchesText(text: string): boolean {
    return timingSafeEqual(sha256(text), this.#hash);
  }

  /** Compares the header `Authorization: Bearer <token>` with the token in constant time. */
  matchesAuthorizationHeader(authorization: string): boolean {
    if (authorization.length > headerCharactersMax) return false;
    const token = /^bearer +(\S+)$/i.exec(authorization)?.[1];
    return token !== undefined && this.matchesText(token);
  }
}

export function operatorTokenPath(dataDir: string): string {
  return join(dataDir, 'operator-token');
}

/**
 * Reads the operator token. If the file does not exist, first creates a file that only its owner can read, with a new token.
 *
 * @param onCreate called before the file is created; an error that it throws prevents this
 */
export function readOrCreateOperatorToken(
  path: string,
  onCreate: () => unknown = () => {},
): { readonly token: OperatorToken; readonly created: boolean } {
  const created = isMissing(path);
  if (created) {
    onCreate();
    writeFileDurably(path, `svc_operator_${randomBytes(32).toString('hex')}\n`);
  }
  return { token: new OperatorToken(readOperatorToken(path)), created };
}

/** Reads a token file. Throws `SecretFileError` if the file cannot be read or contains no token. */
export function readOperatorToken(path: string): string {
  const read = readRegularFile(path, bounds.operatorTokenFileBytesMax);
  if (!read.ok) throw new SecretFileError(`the operator token ${path} ${read.problem}`);
  const text = read.bytes.toString().trim();
  if (/^svc_operator_[0-9a-f]{64}$/.test(text)) return text;
  throw new SecretFileError(
    `${path} does not contain an operator token; delete the file and restart the service to create a token`,
  );
}

const headerCharactersMax = 256;

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
