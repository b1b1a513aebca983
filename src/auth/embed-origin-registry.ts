import type Database from 'better-sqlite3';
import { bounds } from '../bounds.ts';
import { openWritableKeyFile } from './key-file.ts';
import { validateWebOrigin } from './web-origin.ts';

/** An origin that the widgets of an account may be embedded in. */
export interface AllowedOrigin {
  readonly account: number;
  readonly accountName: string;
  readonly origin: string;
}

export type AllowResult = 'allowed' | 'already_allowed';
export type RemoveResult = 'removed' | 'not_allowed';

/** The lists cannot be changed or shown like that. The message is one line for people and repeats nothing that was given. */
export class EmbedOriginError extends RangeError {
  override readonly name = 'EmbedOriginError';
  /** What of the call is at fault. */
  readonly argument: 'account' | 'origins';

  constructor(argument: 'account' | 'origins', message: string) {
    super(message);
    this.argument = argument;
  }
}

/** Keeps the lists of where each account's widgets may be embedded: the writing side, beside that of the keys. */
export class EmbedOriginRegistry {
  readonly #database: Database.Database;

  private constructor(database: Database.Database) {
    this.#database = database;
  }

  /**
   * Creates the file when there is none. Throws `KeyFileError`.
   *
   * @param waitMs how long a change may wait for another process, blocking this thread; then it throws (`isKeyFileBusy`)
   */
  static open(path: string, waitMs?: number): EmbedOriginRegistry {
    return new EmbedOriginRegistry(openWritableKeyFile(path, false, waitMs));
  }

  /** Throws `KeyFileError`, also when there is no file. */
  static openExisting(path: string): EmbedOriginRegistry {
    return new EmbedOriginRegistry(openWritableKeyFile(path, true));
  }

  /** Allows all of these or, when it throws an `EmbedOriginError`, none. Tells of each, in the order given, whether it is new. */
  allow(accountName: string, origins: readonly string[]): AllowResult[] {
    assertOrigins(origins);
    return this.#inTransaction(accountName, (account) => {
      const insert = this.#database.prepare<[number, string]>(
        'INSERT INTO embed_origins (account, origin) VALUES (?, ?) ON CONFLICT DO NOTHING',
      );
      const outcomes = origins.map((origin) =>
        insert.run(account, origin).changes === 1 ? 'allowed' : 'already_allowed',
      );
      const count = this.#database.prepare<[number], number>('SELECT count(*) FROM embed_origins WHERE account = ?');
      if (count.pluck().get(account)! > bounds.embedOriginsPerAccountMax) {
        throw new EmbedOriginError(
          'origins',
          `an account may allow ${bounds.embedOriginsPerAccountMax} origins; remove those that are not in use any more`,
        );
      }
      return outcomes;
    });
  }

  /** Takes these off the list. Throws an `EmbedOriginError` as `allow` does. */
  remove(accountName: string, origins: readonly string[]): RemoveResult[] {
    assertOrigins(origins);
    return this.#inTransaction(accountName, (account) => {
      const remove = this.#database.prepare<[number, string]>(
        'DELETE FROM embed_origins WHERE account = ? AND origin = ?',
      );
      return origins.map((origin) => (remove.run(account, origin).changes === 1 ? 'removed' : 'not_allowed'));
    });
  }

  /** The lists of all accounts, or of one, by account and origin. Throws an `EmbedOriginError` for an account unknown. */
  list(accountName?: string): AllowedOrigin[] {
    const select = `
      SELECT accounts.number AS account, accounts.name AS accountName, origin
      FROM embed_origins JOIN accounts ON accounts.number = embed_origins.account`;
    const order = 'ORDER BY accounts.number, origin';
    if (accountName === undefined) return this.#database.prepare<[], AllowedOrigin>(`${select} ${order}`).all();
    const account = this.#accountNumber(accountName);
    return this.#database.prepare<[number], AllowedOrigin>(`${select} WHERE account = ? ${order}`).all(account);
  }

  /** Idempotent. */
  close(): void {
    this.#database.close();
  }

  #inTransaction<Result>(accountName: string, change: (account: number) => Result): Result {
    return this.#database.transaction(() => change(this.#accountNumber(accountName))).immediate();
  }

  #accountNumber(name: unknown): number {
    const find = this.#database.prepare<[string], number>('SELECT number FROM accounts WHERE name = ?').pluck();
    const account = typeof name === 'string' ? find.get(name) : undefined;
    if (account === undefined) {
      throw new EmbedOriginError(
        'account',
        'there is no account of this name; an account is made with its first API key',
      );
    }
    return account;
  }
}

function assertOrigins(origins: readonly unknown[]): void {
  for (const origin of origins) {
    const fault = typeof origin === 'string' ? validateWebOrigin(origin) : 'An origin is a text.';
    if (fault !== null) throw new EmbedOriginError('origins', fault);
  }
}
