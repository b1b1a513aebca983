import type Database from 'better-sqlite3';
import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import type { Mode } from '../domain/mode.ts';
import type { ApiKey, EmbedOrigins, KeyDirectory } from './key-directory.ts';
import { openKeyFile } from './key-file.ts';

interface SqliteKeyDirectoryOptions {
  readonly path: string;
  readonly clock: Clock;
  /** The key file could not be read. What is already known stays in force; reported once until a reading succeeds. */
  readonly onReadError: (fault: unknown) => void;
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
  readonly #onReadError: (fault: unknown) => void;
  readonly #onRecovered: () => void;
  readonly #database: Database.Database;
  readonly #selectDataVersion: Database.Statement<[], number>;
  readonly #selectChanges: Database.Statement<[number], ChangeRow>;
  readonly #selectOrigins: Database.Statement<[number], string>;
  readonly #selectKeyId: Database.Statement<[number], string>;
  readonly #selectAccountName: Database.Statement<[number], string>;
  readonly #timer: NodeJS.Timeout;
  readonly #keysByHash = new Map<string, ApiKey>();
  readonly #originsByAccount = new Map<number, readonly string[]>();
  /** Names of keys and accounts that were read before, by their numbers. */
  readonly #keyIdCache = new Map<number, string>();
  readonly #accountNameCache = new Map<number, string>();
  /** Number of the last change that was read. */
  #lastChange = 0;
  /** The `data_version` of which every change was read. */
  #loadedVersion = -1;
  /** The next turn of reading, while there is more to read. */
  #nextBatch: NodeJS.Immediate | undefined;
  #lastMissPollMs = Number.NEGATIVE_INFINITY;
  #isFailing = false;

  /** Where the widgets of each account may be embedded, kept as fresh as the keys are. */
  readonly origins: EmbedOrigins = { forAccount: (account) => this.#originsByAccount.get(account) ?? noOrigins };

  /** Creates the file when there is none. Throws `KeyFileError`. */
  constructor(options: SqliteKeyDirectoryOptions) {
    this.#clock = options.clock;
    this.#onReadError = options.onReadError;
    this.#onRecovered = options.onRecovered ?? (() => {});
    this.#database = openKeyFile(options.path, bounds.apiKeyCommandLockTimeoutMs);
    try {
      this.#selectDataVersion = this.#database.prepare<[], number>('PRAGMA data_version').pluck();
      this.#selectChanges = this.#database.prepare<[number], ChangeRow>(
        `SELECT changes.number AS change, changes.hash, changes.account AS originsOf,
           keys.number, keys.account, vertical, mode, expires,
           requests_per_minute AS requestsPerMinute, analytics_per_minute AS analyticsPerMinute,
           sessions_per_day AS sessionsPerDay
         FROM changes LEFT JOIN keys ON keys.hash = changes.hash AND revoked IS NULL
         WHERE changes.number > ? ORDER BY changes.number LIMIT ${bounds.apiKeyChangesPerTurn}`,
      );
      this.#selectOrigins = this.#database
        .prepare<[number], string>('SELECT origin FROM embed_origins WHERE account = ? ORDER BY origin')
        .pluck();
      this.#selectKeyId = this.#database.prepare<[number], string>('SELECT id FROM keys WHERE number = ?').pluck();
      this.#selectAccountName = this.#database
        .prepare<[number], string>('SELECT name FROM accounts WHERE number = ?')
        .pluck();
      this.#loadAll();
      this.#database.pragma(`busy_timeout = ${bounds.apiKeyReadLockTimeoutMs}`);
    } catch (error) {
      this.#database.close();
      throw error;
    }
    this.#timer = setInterval(() => this.#poll(), bounds.apiKeyPollIntervalMs);
  }

  /** How many keys there are, expired ones included. */
  get size(): number {
    return this.#keysByHash.size;
  }

  findByHash(hash: string): ApiKey | undefined {
    return this.#keysByHash.get(hash) ?? this.#pollAndFind(hash);
  }

  /**
   * Returns a key's id and an account's name, as `marketplace keys list` shows them. For a log: it reads the key file unless this
   * caller was named lately, and leaves a name undefined when the file cannot be read.
   */
  callerNames({ account, keyNumber }: { readonly account: number; readonly keyNumber?: number }): CallerNames {
    return {
      key: keyNumber === undefined ? undefined : cachedName(keyNumber, this.#keyIdCache, this.#selectKeyId),
      account: cachedName(account, this.#accountNameCache, this.#selectAccountName),
    };
  }

  /** Reads all changes at once, for a caller that has just made one. */
  refresh(): void {
    this.#tryReading(() => this.#loadAll());
  }

  close(): void {
    clearInterval(this.#timer);
    clearImmediate(this.#nextBatch);
    this.#database.close();
  }

  #pollAndFind(hash: string): ApiKey | undefined {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#lastMissPollMs < bounds.unknownApiKeyPollIntervalMs) return undefined;
    this.#lastMissPollMs = nowMs;
    this.#poll();
    return this.#keysByHash.get(hash);
  }

  #poll(): void {
    clearImmediate(this.#nextBatch);
    this.#tryReading(() => {
      if (!this.#loadBatch()) this.#nextBatch = setImmediate(() => this.#poll());
    });
  }

  #tryReading(load: () => void): void {
    try {
      load();
      if (this.#isFailing) this.#onRecovered();
      this.#isFailing = false;
    } catch (fault) {
      if (!this.#isFailing) this.#onReadError(fault);
      this.#isFailing = true;
    }
  }

  #loadAll(): void {
    while (!this.#loadBatch());
  }

  /** Reads a bounded number of changes. Returns whether there are no more. */
  #loadBatch(): boolean {
    // The version is read before the rows: a commit between the two makes the next poll look once more.
    const version = this.#selectDataVersion.get();
    if (version === undefined || version === this.#loadedVersion) return true;
    const changes = this.#selectChanges.all(this.#lastChange);
    for (const { change, hash, originsOf, ...key } of changes) {
      if (hash !== null) this.#setKey(hash.toString('latin1'), key);
      if (originsOf !== null) this.#setOrigins(originsOf, this.#selectOrigins.all(originsOf));
      this.#lastChange = change;
    }
    if (changes.length === bounds.apiKeyChangesPerTurn) return false;
    this.#loadedVersion = version;
    return true;
  }

  #setKey(hash: string, key: KeyRow | RemovedKey): void {
    if (key.number === null) this.#keysByHash.delete(hash);
    else this.#keysByHash.set(hash, toApiKey(key));
  }

  #setOrigins(account: number, origins: readonly string[]): void {
    if (origins.length === 0) this.#originsByAccount.delete(account);
    else this.#originsByAccount.set(account, origins);
  }
}

/** Names never change, so what was read once stays true. Beyond the bound the oldest is forgotten. */
function cachedName(
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
  if (known.size >= bounds.callerNameCacheEntriesMax) known.delete(known.keys().next().value!);
  known.set(number, name);
  return name;
}

const noOrigins: readonly string[] = Object.freeze([]);

function toApiKey({ number, account, vertical, mode, expires, ...own }: KeyRow): ApiKey {
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
interface RemovedKey {
  readonly number: null;
}

type ChangeRow = (KeyRow | RemovedKey) & {
  readonly change: number;
  /** Of the key that changed. */
  readonly hash: Buffer | null;
  /** Account whose origins changed. */
  readonly originsOf: number | null;
};
