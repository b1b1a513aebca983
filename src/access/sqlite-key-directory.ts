import type Database from 'better-sqlite3';
import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import type { Mode } from '../domain/mode.ts';
import type { EmbedOrigins } from './embed-origins.ts';
import type { ApiKey, KeyDirectory } from './key-directory.ts';
import { openKeyFile } from './key-file.ts';

export interface SqliteKeyDirectoryOptions {
  readonly path: string;
  readonly clock: Clock;
  /** The key file could not be read. What is already known stays in force; reported once until a reading succeeds. */
  readonly onFault: (fault: unknown) => void;
  /** The key file could be read again after a fault. */
  readonly onRecovered?: () => void;
}

/**
 * Holds all keys of the key file in memory, and all origins that widgets may be embedded in, and follows what other processes
 * write to it: SQLite's `data_version` changes with every commit of another connection and costs some 2 us to ask. It is asked
 * every second, and, so that a key works as soon as the command that made it has printed it, when an unknown key is presented.
 *
 * The file lists its changes in order, so only new ones are read, many of them in several turns of the event loop: reading
 * 100,000 keys at once takes hundreds of milliseconds, during which no request would be answered.
 */
export class SqliteKeyDirectory implements KeyDirectory {
  readonly #clock: Clock;
  readonly #onFault: (fault: unknown) => void;
  readonly #onRecovered: () => void;
  readonly #database: Database.Database;
  readonly #version: Database.Statement<[], number>;
  readonly #changesAfter: Database.Statement<[number], ChangeRow>;
  readonly #originsOf: Database.Statement<[number], string>;
  readonly #keyId: Database.Statement<[number], string>;
  readonly #accountName: Database.Statement<[number], string>;
  readonly #timer: NodeJS.Timeout;
  readonly #keys = new Map<string, ApiKey>();
  readonly #origins = new Map<number, readonly string[]>();
  /** Names of keys and accounts that were read before, by their numbers. */
  readonly #keyIds = new Map<number, string>();
  readonly #accountNames = new Map<number, string>();
  /** Number of the last change that was read. */
  #lastChange = 0;
  /** The `data_version` of which every change was read. */
  #loadedVersion = -1;
  /** The next turn of reading, while there is more to read. */
  #nextTurn: NodeJS.Immediate | undefined;
  #missPolledAtMs = Number.NEGATIVE_INFINITY;
  #faulty = false;

  /** Where the widgets of each account may be embedded, kept as fresh as the keys are. */
  readonly origins: EmbedOrigins = { of: (account) => this.#origins.get(account) ?? noOrigins };

  /** Creates the file when there is none. Throws `KeyFileError`. */
  constructor(options: SqliteKeyDirectoryOptions) {
    this.#clock = options.clock;
    this.#onFault = options.onFault;
    this.#onRecovered = options.onRecovered ?? (() => {});
    this.#database = openKeyFile(options.path, bounds.keyWriteWaitMs);
    try {
      this.#version = this.#database.prepare<[], number>('PRAGMA data_version').pluck();
      this.#changesAfter = this.#database.prepare<[number], ChangeRow>(
        `SELECT changes.number AS change, changes.hash, changes.account AS originsOf,
           keys.number, keys.account, vertical, mode, expires,
           requests_per_minute AS requestsPerMinute, analytics_per_minute AS analyticsPerMinute,
           sessions_per_day AS sessionsPerDay
         FROM changes LEFT JOIN keys ON keys.hash = changes.hash AND revoked IS NULL
         WHERE changes.number > ? ORDER BY changes.number LIMIT ${bounds.keyChangesReadAtOnce}`,
      );
      this.#originsOf = this.#database
        .prepare<[number], string>('SELECT origin FROM embed_origins WHERE account = ? ORDER BY origin')
        .pluck();
      this.#keyId = this.#database.prepare<[number], string>('SELECT id FROM keys WHERE number = ?').pluck();
      this.#accountName = this.#database
        .prepare<[number], string>('SELECT name FROM accounts WHERE number = ?')
        .pluck();
      this.#loadAll();
      this.#database.pragma(`busy_timeout = ${bounds.keyReadWaitMs}`);
    } catch (error) {
      this.#database.close();
      throw error;
    }
    this.#timer = setInterval(() => this.#poll(), bounds.keyPollMs);
  }

  /** How many keys there are, expired ones included. */
  get size(): number {
    return this.#keys.size;
  }

  find(hash: string): ApiKey | undefined {
    return this.#keys.get(hash) ?? this.#findAnew(hash);
  }

  /**
   * Returns a key's id and an account's name, as `marketplace keys list` shows them. For a log: it reads the key file unless this
   * caller was named lately, and leaves a name undefined when the file cannot be read.
   */
  namesOf({ account, keyNumber }: { readonly account: number; readonly keyNumber?: number }): CallerNames {
    return {
      key: keyNumber === undefined ? undefined : nameOf(keyNumber, this.#keyIds, this.#keyId),
      account: nameOf(account, this.#accountNames, this.#accountName),
    };
  }

  /** Reads all changes at once, for a caller that has just made one. */
  refresh(): void {
    this.#attempt(() => this.#loadAll());
  }

  close(): void {
    clearInterval(this.#timer);
    clearImmediate(this.#nextTurn);
    this.#database.close();
  }

  #findAnew(hash: string): ApiKey | undefined {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#missPolledAtMs < bounds.keyMissPollMs) return undefined;
    this.#missPolledAtMs = nowMs;
    this.#poll();
    return this.#keys.get(hash);
  }

  #poll(): void {
    clearImmediate(this.#nextTurn);
    this.#attempt(() => {
      if (!this.#load()) this.#nextTurn = setImmediate(() => this.#poll());
    });
  }

  #attempt(load: () => void): void {
    try {
      load();
      if (this.#faulty) this.#onRecovered();
      this.#faulty = false;
    } catch (fault) {
      if (!this.#faulty) this.#onFault(fault);
      this.#faulty = true;
    }
  }

  #loadAll(): void {
    while (!this.#load());
  }

  /** Reads a bounded number of changes. Returns whether there are no more. */
  #load(): boolean {
    // The version is read before the rows: a commit between the two makes the next poll look once more.
    const version = this.#version.get();
    if (version === undefined || version === this.#loadedVersion) return true;
    const changes = this.#changesAfter.all(this.#lastChange);
    for (const { change, hash, originsOf, ...key } of changes) {
      if (hash !== null) this.#setKey(hash.toString('latin1'), key);
      if (originsOf !== null) this.#setOrigins(originsOf, this.#originsOf.all(originsOf));
      this.#lastChange = change;
    }
    if (changes.length === bounds.keyChangesReadAtOnce) return false;
    this.#loadedVersion = version;
    return true;
  }

  #setKey(hash: string, key: KeyRow | NoKey): void {
    if (key.number === null) this.#keys.delete(hash);
    else this.#keys.set(hash, apiKey(key));
  }

  #setOrigins(account: number, origins: readonly string[]): void {
    if (origins.length === 0) this.#origins.delete(account);
    else this.#origins.set(account, origins);
  }
}

/** Names never change, so what was read once stays true. Beyond the bound the oldest is forgotten. */
function nameOf(
  number: number,
  known: Map<number, string>,
  find: Database.Statement<[number], string>,
): string | undefined {
  let name = known.get(number);
  if (name !== undefined) return name;
  try {
    name = find.get(number);
  } catch {
    return undefined; // The poll reports a key file that cannot be read.
  }
  if (name === undefined) return undefined;
  if (known.size >= bounds.callerNamesRememberedMax) known.delete(known.keys().next().value!);
  known.set(number, name);
  return name;
}

const noOrigins: readonly string[] = Object.freeze([]);

function apiKey({ number, account, vertical, mode, expires, ...own }: KeyRow): ApiKey {
  const { requestsPerMinute, analyticsPerMinute, sessionsPerDay } = own;
  const limits = { requestsPerMinute, analyticsPerMinute, sessionsPerDay };
  return { number, account, vertical, mode, expiresAtMs: expires ?? Number.POSITIVE_INFINITY, limits };
}

/** Undefined where no key is involved, or the name is not known. */
export interface CallerNames {
  readonly key: string | undefined;
  readonly account: string | undefined;
}

/** A key that is not revoked. */
interface KeyRow {
  readonly number: number;
  readonly account: number;
  readonly vertical: string;
  readonly mode: Mode;
  readonly expires: number | null;
  readonly requestsPerMinute: number | null;
  readonly analyticsPerMinute: number | null;
  readonly sessionsPerDay: number | null;
}

/** The change is of no key, or of one that is revoked or deleted. */
interface NoKey {
  readonly number: null;
}

type ChangeRow = (KeyRow | NoKey) & {
  readonly change: number;
  /** Of the key that changed. */
  readonly hash: Buffer | null;
  /** Account whose origins changed. */
  readonly originsOf: number | null;
};
