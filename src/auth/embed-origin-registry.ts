import type { RecordChange } from '../audit/audit-log.ts';
import { runRecorded } from '../audit/run-recorded.ts';
import { bounds } from '../bounds.ts';
import { KeyFileWriter } from './key-file.ts';
import {
  type AllowedOrigin,
  type AllowOriginResult,
  type RemoveOriginResult,
  validateWebOrigin,
} from './web-origin.ts';

/** Value of SQLite's LIMIT for all rows. */
const noLimit = -1;

/** Error for an unknown account or an invalid origin. The error message is one line and does not contain the input. */
export class EmbedOriginError extends RangeError {
  override readonly name = 'EmbedOriginError';
  readonly argument: 'account' | 'origins';

  constructor(argument: 'account' | 'origins', message: string) {
    super(message);
    this.argument = argument;
  }
}

/**
 * Reads and changes the web origins that may embed an account's widgets. The origins are stored in the key file. A change is recorded before
 * it is committed; if `record` throws an error, nothing changes.
 */
export class EmbedOriginRegistry extends KeyFileWriter {
  /** Allows origins. Returns one result for each origin, in the given order. Adds no origin if an `EmbedOriginError` is thrown. */
  allowOrigins(accountName: string, origins: readonly string[], record: RecordChange): AllowOriginResult[] {
    assertOrigins(origins);
    return this.#inTransaction(accountName, record, (account, recordChange) => {
      const insert = this.database.prepare<[number, string]>(
        'INSERT INTO embed_origins (account, origin) VALUES (?, ?) ON CONFLICT DO NOTHING',
      );
      const outcomes = origins.map(
        (origin): AllowOriginResult => (insert.run(account, origin).changes === 1 ? 'allowed' : 'already_allowed'),
      );
      const count = this.database.prepare<[number], number>('SELECT count(*) FROM embed_origins WHERE account = ?');
      if (count.pluck().get(account)! > bounds.embedOriginsPerAccountMax) {
        throw new EmbedOriginError(
          'origins',
          `an account can have ${bounds.embedOriginsPerAccountMax} origins; remove unused origins first`,
        );
      }
      const allowed = origins.filter((_, index) => outcomes[index] === 'allowed');
      if (allowed.length > 0) recordChange('origin.allow', accountName, { origins: allowed });
      return outcomes;
    });
  }

  /** Removes origins. Returns one result for each origin, in the given order. Throws `EmbedOriginError` for an invalid argument. */
  removeOrigins(accountName: string, origins: readonly string[], record: RecordChange): RemoveOriginResult[] {
    assertOrigins(origins);
    return this.#inTransaction(accountName, record, (account, recordChange) => {
      const remove = this.database.prepare<[number, string]>(
        'DELETE FROM embed_origins WHERE account = ? AND origin = ?',
      );
      const outcomes = origins.map(
        (origin): RemoveOriginResult => (remove.run(account, origin).changes === 1 ? 'removed' : 'not_allowed'),
      );
      const removed = origins.filter((_, index) => outcomes[index] === 'removed');
      if (removed.length > 0) recordChange('origin.remove', accountName, { origins: removed });
      return outcomes;
    });
  }

  /**
   * Lists the origins of all accounts or of one account, sorted by account and origin. Throws `EmbedOriginError` for an unknown account.
   */
  listOrigins(accountName?: string): AllowedOrigin[] {
    return this.listPage(accountName, undefined, noLimit);
  }

  /**
   * Lists a page of the origins of all accounts or of one account, sorted by account and origin. Throws `EmbedOriginError` for an unknown
   * account.
   *
   * @param after last origin of the page before; undefined for the first page
   */
  listPage(
    accountName: string | undefined,
    after: Pick<AllowedOrigin, 'account' | 'origin'> | undefined,
    limit: number,
  ): AllowedOrigin[] {
    const account = accountName === undefined ? null : this.#findAccount(accountName);
    const accounts = account === null ? [0, Number.MAX_SAFE_INTEGER] : [account, account];
    return this.database
      .prepare<(number | string)[], AllowedOrigin>(
        `SELECT accounts.number AS account, accounts.name AS accountName, origin
         FROM embed_origins JOIN accounts ON accounts.number = embed_origins.account
         WHERE (embed_origins.account, origin) > (?, ?) AND embed_origins.account BETWEEN ? AND ?
         ORDER BY embed_origins.account, origin LIMIT ?`,
      )
      .all(after?.account ?? 0, after?.origin ?? '', ...accounts, limit);
  }

  #inTransaction<Result>(
    accountName: string,
    record: RecordChange,
    change: (account: number, recordChange: RecordChange) => Result,
  ): Result {
    const result = runRecorded(record, (recordChange) =>
      this.database.transaction(() => change(this.#findAccount(accountName), recordChange)).immediate(),
    );
    this.onChanged();
    return result;
  }

  #findAccount(name: unknown): number {
    const account = typeof name === 'string' ? this.findAccountNumberByName(name) : undefined;
    if (account === undefined) {
      throw new EmbedOriginError('account', 'unknown account; an account is created with its first API key');
    }
    return account;
  }
}

function assertOrigins(origins: readonly unknown[]): void {
  for (const origin of origins) {
    const message = typeof origin === 'string' ? validateWebOrigin(origin) : 'An origin must be a string.';
    if (message !== null) throw new EmbedOriginError('origins', message);
  }
}
