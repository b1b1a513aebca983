import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { join } from 'node:path';
import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import { writeFileDurably } from '../files/durable-files.ts';
import { isMissing, readRegularFile } from '../files/regular-file.ts';
import { SecretFileError } from '../secrets/secret-file.ts';

interface OperatorTokenOptions {
  readonly path: string;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Called before a missing file is created at the start; an error that it throws prevents this. */
  readonly onCreate?: () => unknown;
  /** Called with the reason when the file cannot be used any more. Until it contains a token, no token is valid. */
  readonly onUnusable?: (problem: string) => void;
  /** Called when the file contains another token, or can be used again. */
  readonly onReloaded?: () => void;
}

/**
 * Secret token that authorizes operators on the operations listener (docs/contract.md#operations-listener). A check reads the file again after
 * `bounds.operatorTokenReadIntervalMs`, so that a replaced token becomes invalid without a restart.
 */
export class OperatorToken {
  /** Whether the constructor created the file. */
  readonly isNew: boolean;
  readonly #options: OperatorTokenOptions;
  /** SHA-256 of the token; null while the file cannot be used. */
  #hash: Buffer | null;
  #lastReadMs: number;

  /**
   * Reads the file. If it does not exist, first creates a file that only its owner can read, with a new token. Throws `SecretFileError` if the
   * file cannot be used.
   */
  constructor(options: OperatorTokenOptions) {
    const { path, clock, onCreate } = options;
    this.#options = options;
    this.isNew = isMissing(path);
    if (this.isNew) {
      onCreate?.();
      writeFileDurably(path, `svc_operator_${randomBytes(32).toString('hex')}\n`);
    }
    this.#lastReadMs = clock.monotonicMs();
    this.#hash = sha256(readOperatorToken(path));
  }

  /** Returns the SHA-256 of a text, as 32 Latin-1 characters, if the text is the token; otherwise null. Compares in constant time. */
  findHash(text: string): string | null {
    const current = this.#readHash();
    const hash = sha256(text);
    return current !== null && timingSafeEqual(hash, current) ? hash.toString('latin1') : null;
  }

  /** Whether a hash from `findHash` is still the one of the token. */
  isCurrentHash(hash: string): boolean {
    return this.#readHash()?.toString('latin1') === hash;
  }

  /** Compares the header `Authorization: Bearer <token>` with the token in constant time. */
  matchesAuthorizationHeader(authorization: string): boolean {
    if (authorization.length > headerCharactersMax) return false;
    const token = /^bearer +(\S+)$/i.exec(authorization)?.[1];
    return token !== undefined && this.findHash(token) !== null;
  }

  #readHash(): Buffer | null {
    const { path, clock, onUnusable, onReloaded } = this.#options;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#lastReadMs < bounds.operatorTokenReadIntervalMs) return this.#hash;
    this.#lastReadMs = nowMs;
    const earlier = this.#hash;
    this.#hash = null;
    const read = tryReadToken(path);
    if (read.ok) {
      this.#hash = sha256(read.value);
      if (earlier === null || !this.#hash.equals(earlier)) onReloaded?.();
    } else if (earlier !== null) {
      onUnusable?.(read.problem);
    }
    return this.#hash;
  }
}

export function operatorTokenPath(dataDir: string): string {
  return join(dataDir, 'operator-token');
}

/** Reads a token file. Throws `SecretFileError` if the file cannot be read or contains no token. */
export function readOperatorToken(path: string): string {
  const read = tryReadToken(path);
  if (read.ok) return read.value;
  throw new SecretFileError(read.problem);
}

function tryReadToken(
  path: string,
): { readonly ok: true; readonly value: string } | { readonly ok: false; readonly problem: string } {
  const read = readRegularFile(path, bounds.operatorTokenFileBytesMax);
  if (!read.ok) return { ok: false, problem: `the operator token ${path} ${read.problem}` };
  const value = read.bytes.toString().trim();
  if (/^svc_operator_[0-9a-f]{64}$/.test(value)) return { ok: true, value };
  const problem = `${path} does not contain an operator token; delete the file and restart the service to create a token`;
  return { ok: false, problem };
}

const headerCharactersMax = 256;

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
