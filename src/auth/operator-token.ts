import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileDurably } from '../files/durable-files.ts';
import { SecretFileError } from '../secrets/secret-file.ts';

/** Credential for changes through the operations listener (docs/contract.md#operations-listener). Never a partner's key. */
class OperatorToken {
  readonly #hash: Buffer;

  constructor(text: string) {
    this.#hash = sha256(text);
  }

  /** Whether a header `Authorization: Bearer <token>` carries it. Its time tells nothing of how much of a guess was right. */
  matchesHeader(authorization: string): boolean {
    if (authorization.length > headerCharactersMax) return false;
    const token = /^bearer +(\S+)$/i.exec(authorization)?.[1];
    return token !== undefined && timingSafeEqual(sha256(token), this.#hash);
  }
}

export function operatorTokenPath(dataDir: string): string {
  return join(dataDir, 'operator-token');
}

/** Reads the token's file, which only its owner may read. A missing one is created, and `created` says so. */
export function openOperatorToken(path: string): { readonly token: OperatorToken; readonly created: boolean } {
  const created = !existsSync(path);
  if (created) writeFileDurably(path, `svc_operator_${randomBytes(32).toString('hex')}\n`);
  return { token: new OperatorToken(readOperatorToken(path)), created };
}

/** The text of the token. Throws `SecretFileError` for a file that holds none, and the system's error for one that cannot be read. */
export function readOperatorToken(path: string): string {
  const text = readFileSync(path, 'utf8').trim();
  if (/^svc_operator_[0-9a-f]{64}$/.test(text)) return text;
  throw new SecretFileError(
    `${path} holds no operator token: remove it, and the next start of the service writes another`,
  );
}

/** The scheme and some spaces too many. */
const headerCharactersMax = 256;

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
