import { randomBytes } from 'node:crypto';
import type Database from 'better-sqlite3';
import { bounds } from '../bounds.ts';
import type { Mode } from '../domain/mode.ts';
import { generateApiKey, hashApiKey, isAccountName } from './api-key.ts';
import { openWritableKeyFile } from './key-file.ts';
import { assertLimits, type KeyLimitOverrides } from './rate-limits.ts';

export interface NewKey {
  /** Created when there is none of this name; see `isAccountName`. */
  readonly accountName: string;
  readonly vertical: { readonly segment: string; readonly keyPrefix: string };
  readonly mode: Mode;
  /** Wall time from which the key is refused, still to come; or null for never. */
  readonly expiresAtMs: number | null;
  readonly limits: KeyLimitOverrides;
}

/** Everything about an issued key but the key itself, which nobody can show again. */
export interface IssuedKey {
  /** What people call it by: `key_` and 12 hexadecimal digits. */
  readonly id: string;
  readonly number: number;
  readonly account: number;
  readonly accountName: string;
  /** Path segment. */
  readonly vertical: string;
  readonly mode: Mode;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  readonly limits: KeyLimitOverrides;
}

export type RevokeResult = 'revoked' | 'already_revoked' | 'unknown';

/** Issues, lists and revokes keys (docs/contract.md#api-keys): the writing side of the key file, for the command line and a first start. */
export class KeyRegistry {
  readonly #database: Database.Database;

  private constructor(database: Database.Database) {
    this.#database = database;
  }

  /**
   * Creates the file when there is none. Throws `KeyFileError`.
   *
   * @param waitMs how long a change may wait for another process, blocking this thread; then it throws (`isKeyFileBusy`)
   */
  static open(path: string, waitMs?: number): KeyRegistry {
    return new KeyRegistry(openWritableKeyFile(path, false, waitMs));
  }

  /** Throws `KeyFileError`, also when there is no file. */
  static openExisting(path: string): KeyRegistry {
    return new KeyRegistry(openWritableKeyFile(path, true));
  }

  /**
   * Issues a key. The text of the key is returned here and never again. Throws a RangeError for what no key may have: what is
   * stored here is believed by every server, and SQLite would take a NaN for "never expires".
   */
  create(wanted: NewKey, nowMs: number): { readonly key: string; readonly issued: IssuedKey } {
    assertNewKey(wanted, nowMs);
    const key = generateApiKey(wanted.vertical.keyPrefix, wanted.mode);
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
            this.#accountNumber(wanted.accountName),
            wanted.vertical.segment,
            wanted.mode,
            Buffer.from(hashApiKey(key), 'latin1'),
            nowMs,
            wanted.expiresAtMs,
            wanted.limits.requestsPerMinute,
            wanted.limits.analyticsPerMinute,
            wanted.limits.sessionsPerDay,
          );
      })
      .immediate();
    const issued = this.find(id);
    if (issued === undefined) throw new Error('a key just written cannot be read');
    return { key, issued };
  }

  /** All keys ever issued, oldest first, with the expired and the revoked. */
  list(): IssuedKey[] {
    return this.#database.prepare<[], KeyRow>(`${selectKeysSql} ORDER BY keys.number`).all().map(toIssuedKey);
  }

  /** The key of this id, also when expired or revoked. */
  find(id: string): IssuedKey | undefined {
    const row = this.#database.prepare<[string], KeyRow>(`${selectKeysSql} WHERE id = ?`).get(id);
    return row && toIssuedKey(row);
  }

  /** Ends a key for good. The first revocation's time stands. */
  revoke(id: string, nowMs: number): RevokeResult {
    const revoke = this.#database.prepare<[number, string]>(
      'UPDATE keys SET revoked = ? WHERE id = ? AND revoked IS NULL',
    );
    if (revoke.run(nowMs, id).changes === 1) return 'revoked';
    return this.find(id) === undefined ? 'unknown' : 'already_revoked';
  }

  /** Idempotent. */
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

function assertNewKey({ accountName, mode, expiresAtMs, limits }: NewKey, nowMs: number): void {
  if (typeof accountName !== 'string' || !isAccountName(accountName)) {
    throw new RangeError(
      `an account name must be 1 to ${bounds.accountNameCharactersMax} printable characters without spaces at either end`,
    );
  }
  if (mode !== 'live' && mode !== 'test') throw new RangeError('the mode of a key must be live or test');
  const { timestampMsMax } = bounds;
  if (
    expiresAtMs !== null &&
    !(Number.isInteger(expiresAtMs) && expiresAtMs > nowMs && expiresAtMs <= timestampMsMax)
  ) {
    throw new RangeError('the expiry of a key must be a valid date in the future');
  }
  assertLimits(limits);
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
