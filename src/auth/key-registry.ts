import { randomBytes } from 'node:crypto';
import type Database from 'better-sqlite3';
import { requestRules } from '../domain/errors.ts';
import type { Mode } from '../domain/mode.ts';
import { findInvalidMember, generateApiKey, hashApiKey, type NewKey } from './api-key.ts';
import { openWritableKeyFile } from './key-file.ts';
import type { KeyLimitOverrides } from './rate-limits.ts';

/** An issued API key. The text of the key is not stored, so it is not included. */
export interface IssuedKey {
  /** Id of the key: `key_` and 12 hex digits. */
  readonly id: string;
  readonly number: number;
  readonly account: number;
  readonly accountName: string;
  /** Path segment of the key's vertical. */
  readonly vertical: string;
  readonly mode: Mode;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  readonly limits: KeyLimitOverrides;
}

export type RevokeResult = 'revoked' | 'already_revoked' | 'unknown';

/** Issues, lists and revokes API keys in the key file (docs/contract.md#api-keys). */
export class KeyRegistry {
  readonly #database: Database.Database;

  private constructor(database: Database.Database) {
    this.#database = database;
  }

  /**
   * Opens the key file and creates it if it does not exist. Throws `KeyFileError`.
   *
   * @param waitMs maximum time for which a change blocks the thread while another process writes. The change then throws (`isKeyFileBusy`).
   */
  static open(path: string, waitMs?: number): KeyRegistry {
    return new KeyRegistry(openWritableKeyFile(path, false, waitMs));
  }

  /** Opens an existing key file. Throws `KeyFileError`, also if the file does not exist. */
  static openExisting(path: string): KeyRegistry {
    return new KeyRegistry(openWritableKeyFile(path, true));
  }

  /** Issues a key. The text of the key cannot be read again later. Throws a RangeError for an invalid member. */
  create(newKey: NewKey, nowMs: number): { readonly key: string; readonly issued: IssuedKey } {
    const invalid = findInvalidMember(newKey, nowMs);
    if (invalid !== null) throw new RangeError(`${invalid} ${requestRules[invalid]}`);
    const key = generateApiKey(newKey.vertical.keyPrefix, newKey.mode);
    const id = `key_${randomBytes(6).toString('hex')}`;
    this.#database
      .transaction(() => {
        this.#database
          .prepare(
            `INSERT INTO keys (id, account, vertical, mode, hash, created, expires,
               requests_per_minute, analytics_per_minute, sessions_per_day)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          )
          .run(
            id,
            this.#accountNumber(newKey.accountName),
            newKey.vertical.segment,
            newKey.mode,
            Buffer.from(hashApiKey(key), 'latin1'),
            nowMs,
            newKey.expiresAtMs,
            newKey.limits.requestsPerMinute,
            newKey.limits.analyticsPerMinute,
            newKey.limits.sessionsPerDay,
          );
      })
      .immediate();
    const issued = this.find(id);
    if (issued === undefined) throw new Error('created API key not found');
    return { key, issued };
  }

  /** Lists all keys, including expired and revoked keys, oldest first. */
  list(): IssuedKey[] {
    return this.#database.prepare<[], KeyRow>(`${selectKeysSql} ORDER BY keys.number`).all().map(toIssuedKey);
  }

  /** Finds a key, even if it has expired or was revoked. */
  find(id: string): IssuedKey | undefined {
    const row = this.#database.prepare<[string], KeyRow>(`${selectKeysSql} WHERE id = ?`).get(id);
    return row && toIssuedKey(row);
  }

  /** Revokes a key permanently. A repeated call does not change the time of revocation. */
  revoke(id: string, nowMs: number): RevokeResult {
    const revoke = this.#database.prepare<[number, string]>(
      'UPDATE keys SET revoked = ? WHERE id = ? AND revoked IS NULL',
    );
    if (revoke.run(nowMs, id).changes === 1) return 'revoked';
    return this.find(id) === undefined ? 'unknown' : 'already_revoked';
  }

  /** Closes the key file. Repeated calls have no effect. */
  close(): void {
    this.#database.close();
  }

  #accountNumber(name: string): number {
    const find = this.#database.prepare<[string], number>('SELECT number FROM accounts WHERE name = ?').pluck();
    return (
      find.get(name) ??
      Number(this.#database.prepare('INSERT INTO accounts (name) VALUES (?)').run(name).lastInsertRowid)
    );
  }
}

const selectKeysSql = `
  SELECT keys.number, id, account, accounts.name AS accountName, vertical, mode, created, expires, revoked,
    requests_per_minute AS requestsPerMinute, analytics_per_minute AS analyticsPerMinute,
    sessions_per_day AS sessionsPerDay
  FROM keys JOIN accounts ON accounts.number = keys.account`;

function toIssuedKey({
  created,
  expires,
  revoked,
  requestsPerMinute,
  analyticsPerMinute,
  sessionsPerDay,
  ...same
}: KeyRow) {
  const limits = { requestsPerMinute, analyticsPerMinute, sessionsPerDay };
  return { ...same, createdAtMs: created, expiresAtMs: expires, revokedAtMs: revoked, limits };
}

interface KeyRow {
  readonly number: number;
  readonly id: string;
  readonly account: number;
  readonly accountName: string;
  readonly vertical: string;
  readonly mode: Mode;
  readonly created: number;
  readonly expires: number | null;
  readonly revoked: number | null;
  readonly requestsPerMinute: number | null;
  readonly analyticsPerMinute: number | null;
  readonly sessionsPerDay: number | null;
}
