import { randomBytes } from 'node:crypto';
import type { AuditDetails, RecordChange } from '../audit/audit-log.ts';
import { runRecorded } from '../audit/run-recorded.ts';
import { isJsonObject } from '../domain/assert-options.ts';
import { formatIsoTimestampOrNull } from '../domain/calendar.ts';
import { paramErrorTexts } from '../domain/errors.ts';
import { invalidRequest, type Outcome, successOutcome } from '../domain/outcome.ts';
import {
  apiKeyLimitNames,
  generateApiKey,
  hashApiKey,
  type IssuedKey,
  type NewKey,
  parseKeyExpiry,
  type RevokeKeyResult,
  validateNewKey,
} from './api-key.ts';
import { extractLimits, KeyFileError, KeyFileWriter, keyLimitColumnsSql } from './key-file.ts';
import { type KeyLimitOverrides, toLimitsJson } from './rate-limits.ts';

/** Issues, lists and revokes API keys in the key file (docs/contract.md#api-keys). */
export class KeyRegistry extends KeyFileWriter {
  /**
   * Issues a key and returns the text of the key, which cannot be read again later. Throws a RangeError if a member of `newKey` is invalid,
   * and `KeyFileError` if no shard has an account number left.
   *
   * @param record called before the key is committed. If it throws an error, no key is issued
   */
  create(newKey: NewKey, nowMs: number, record: RecordChange): { readonly key: string; readonly issued: IssuedKey } {
    const invalid = validateNewKey(newKey, nowMs);
    if (invalid !== null) throw new RangeError(`${invalid} ${paramErrorTexts[invalid]}`);
    const id = `key_${randomBytes(6).toString('hex')}`;
    const key = runRecorded(record, (recordChange) =>
      this.database
        .transaction(() => {
          const account = this.#findOrCreateAccount(newKey.accountName);
          const text = generateApiKey(newKey.vertical, newKey.mode, account);
          this.#insertKey(id, account, newKey, hashApiKey(text), nowMs);
          recordChange('key.create', id, describeNewKey(newKey));
          return text;
        })
        .immediate(),
    );
    const issued = this.find(id);
    if (issued === undefined) throw new Error('the new API key cannot be read from the key file');
    this.onChanged();
    return { key, issued };
  }

  /** Lists all keys, including expired and revoked keys, oldest first. */
  listKeys(): IssuedKey[] {
    return this.database.prepare<[], KeyRow>(`${selectKeysSql} ORDER BY keys.number`).all().map(extractLimits);
  }

  /**
   * Lists a page of keys, including expired and revoked keys, oldest first. Returns the parameter that is invalid if no account has the
   * name, or no key has the id `afterId`.
   *
   * @param account name of the account; undefined for the keys of all accounts
   * @param afterId id of the last key of the page before; undefined for the first page
   */
  listPage(
    account: string | undefined,
    afterId: string | undefined,
    limit: number,
  ): IssuedKey[] | 'account' | 'cursor' {
    const accountNumber = account === undefined ? null : this.findAccountNumberByName(account);
    if (accountNumber === undefined) return 'account';
    const afterNumber = afterId === undefined ? 0 : this.find(afterId)?.number;
    if (afterNumber === undefined) return 'cursor';
    const order = 'AND keys.number > ? ORDER BY keys.number LIMIT ?';
    const rows =
      accountNumber === null
        ? this.database.prepare<number[], KeyRow>(`${selectKeysSql} WHERE true ${order}`).all(afterNumber, limit)
        : this.database
            .prepare<number[], KeyRow>(`${selectKeysSql} WHERE keys.account = ? ${order}`)
            .all(accountNumber, afterNumber, limit);
    return rows.map(extractLimits);
  }

  /** Finds a key by its id, even if the key has expired or was revoked. */
  find(id: string): IssuedKey | undefined {
    const row = this.database.prepare<[string], KeyRow>(`${selectKeysSql} WHERE id = ?`).get(id);
    return row && extractLimits(row);
  }

  /**
   * Revokes a key permanently. If the key is already revoked, the time of the revocation does not change.
   *
   * @param record called before the revocation is committed. If it throws an error, the key stays valid
   */
  revokeKey(id: string, nowMs: number, record: RecordChange): RevokeKeyResult {
    const isRevoked = runRecorded(record, (recordChange) =>
      this.database
        .transaction(() => {
          const revoke = this.database.prepare<[number, string]>(
            'UPDATE keys SET revoked = ? WHERE id = ? AND revoked IS NULL',
          );
          if (revoke.run(nowMs, id).changes === 0) return false;
          const { accountName, vertical, mode } = this.find(id)!;
          recordChange('key.revoke', id, { account: accountName, vertical, mode });
          return true;
        })
        .immediate(),
    );
    if (isRevoked) {
      this.onChanged();
      return 'revoked';
    }
    return this.find(id) === undefined ? 'unknown' : 'already_revoked';
  }

  #insertKey(id: string, account: number, newKey: NewKey, keyHash: string, nowMs: number): void {
    this.database
      .prepare(
        `INSERT INTO keys (id, account, vertical, mode, scope, hash, created, expires,
           requests_per_minute, analytics_per_minute, sessions_per_day)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        id,
        account,
        newKey.vertical.segment,
        newKey.mode,
        newKey.scope,
        Buffer.from(keyHash, 'latin1'),
        nowMs,
        newKey.expiresAtMs,
        newKey.limits.requestsPerMinute,
        newKey.limits.analyticsPerMinute,
        newKey.limits.sessionsPerDay,
      );
  }

  #findOrCreateAccount(name: string): number {
    const existing = this.findAccountNumberByName(name);
    if (existing !== undefined) return existing;
    const found = this.database.prepare<[], NewAccount>(selectNewAccountSql).get();
    if (found === undefined) {
      throw new KeyFileError('no account number is left; add a shard with SVC_SHARDS, or use an existing account');
    }
    const { number, isPlaced } = found;
    this.database.prepare('INSERT INTO accounts (number, name) VALUES (?, ?)').run(number, name);
    if (isPlaced === 1) this.database.prepare('INSERT INTO placements VALUES (?, NULL, 0)').run(number);
    return number;
  }
}

interface NewAccount {
  readonly number: number;
  /** 1 if the number is one of a shard that is not registered, so that the account is placed on shard 0; otherwise 0. */
  readonly isPlaced: 0 | 1;
}

/**
 * Selects the number of a new account: the next number of the registered shard with the fewest accounts. If all numbers of these shards are
 * assigned, selects a number that an earlier release, which had no shards, would have assigned. No row if there is none.
 */
const selectNewAccountSql = `
  WITH used (shard, accounts) AS (
    SELECT coalesce(placements.shard, accounts.number >> 16), count(*)
    FROM accounts LEFT JOIN placements ON placements.account = accounts.number AND vertical_and_mode IS NULL
    GROUP BY 1
  )
  SELECT last_account + 1 AS number, started = 0 AND shards.number > 0 AS isPlaced
  FROM shards LEFT JOIN used ON used.shard = shards.number
  WHERE last_account & 65535 < 65535
  ORDER BY isPlaced, coalesce(accounts, 0), shards.number LIMIT 1`;

/** Returns the details of a new key in the audit log. */
function describeNewKey({ accountName, vertical, mode, scope, expiresAtMs, limits }: NewKey): AuditDetails {
  return {
    account: accountName,
    vertical: vertical.segment,
    mode,
    scope,
    expires_at: formatIsoTimestampOrNull(expiresAtMs),
    ...Object.fromEntries(apiKeyLimitNames.map(([name, param]) => [param, limits[name]])),
  };
}

const selectKeysSql = `
  SELECT keys.number, id, account, accounts.name AS accountName, vertical, mode, scope, created AS createdAtMs,
    expires AS expiresAtMs, revoked AS revokedAtMs, ${keyLimitColumnsSql}
  FROM keys JOIN accounts ON accounts.number = keys.account`;

type KeyRow = Omit<IssuedKey, 'limits'> & KeyLimitOverrides;

export type KeyVertical = NewKey['vertical'];

/**
 * Parses the body of `POST /keys`. `account`, `vertical` and `mode` are required; the scope, the expiry and the limits are optional.
 * Rejects unknown members, so that a misspelt optional member is not ignored.
 */
export function parseNewKey(body: unknown, verticals: readonly KeyVertical[], nowMs: number): Outcome<NewKey> {
  if (!isJsonObject(body)) return invalidRequest('body');
  if (Object.keys(body).some((name) => !memberNames.includes(name))) {
    return invalidRequest('body', `must be an object with no other members than ${memberNames.join(', ')}`);
  }
  const newKey = {
    accountName: body.account,
    vertical: verticals.find(({ segment }) => segment === body.vertical),
    mode: body.mode,
    scope: body.scope === undefined ? 'full' : body.scope,
    expiresAtMs: parseExpiryMember(body.expires),
    limits: Object.fromEntries(apiKeyLimitNames.map(([name, param]) => [name, body[param] ?? null])),
  };
  const invalid = validateNewKey(newKey, nowMs);
  return invalid === null ? successOutcome(newKey as unknown as NewKey) : invalidRequest(invalid);
}

const memberNames: readonly string[] = [
  'account',
  'vertical',
  'mode',
  'scope',
  'expires',
  ...apiKeyLimitNames.map(([, param]) => param),
];

/** Parses `expires` in the body of `POST /keys`. Returns null if the key never expires, and NaN for an invalid value. */
function parseExpiryMember(expires: unknown): number | null {
  if (expires === undefined || expires === null) return null;
  return (typeof expires === 'string' ? parseKeyExpiry(expires) : null) ?? Number.NaN;
}

/** Converts a key to the JSON format of the CLI and the operations API. A limit is null if the default of the service applies. */
export function toIssuedKeyJson(issued: IssuedKey, nowMs: number) {
  return {
    id: issued.id,
    account: issued.accountName,
    vertical: issued.vertical,
    mode: issued.mode,
    scope: issued.scope,
    state: getKeyState(issued, nowMs),
    created_at: formatIsoTimestampOrNull(issued.createdAtMs),
    expires_at: formatIsoTimestampOrNull(issued.expiresAtMs),
    revoked_at: formatIsoTimestampOrNull(issued.revokedAtMs),
    ...toLimitsJson(issued.limits),
  };
}

export function getKeyState(issued: IssuedKey, nowMs: number): 'active' | 'expired' | 'revoked' {
  if (issued.revokedAtMs !== null) return 'revoked';
  return issued.expiresAtMs !== null && nowMs >= issued.expiresAtMs ? 'expired' : 'active';
}
