import type Database from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import { homeShard } from '../domain/home-shard.ts';
import type { ApiKey } from './api-key.ts';
import { extractLimits, keyLimitColumnsSql, openKeyFile } from './key-file.ts';
import type { KeyLimitOverrides } from './rate-limits.ts';

interface SqliteKeyDirectoryOptions {
  readonly path: string;
  readonly clock: Clock;
  /** Called when the key file becomes unreadable. The keys that are already in memory remain valid. */
  readonly onReadError: (error: unknown) => void;
  readonly onRecovered?: () => void;
  /** Called for each key that is loaded: at the start for all keys, later for each new or changed key. */
  readonly onKeyLoaded?: (key: ApiKey) => void;
}

/**
 * Stores all keys, embed origins and placements of the key file in memory, and polls the key file for changes by other processes. A poll
 * reads SQLite's `data_version` first, which changes with every commit of another connection. The key directory polls the key file every
 * second, and also when a request has an unknown key, so that a new key is valid immediately.
 *
 * The table `changes` of the key file numbers all changes, so that a poll reads only new changes. Many changes are read in several turns of
 * the event loop, because reading 100,000 keys at once would block the event loop for hundreds of milliseconds.
 */
export class SqliteKeyDirectory {
  readonly #options: SqliteKeyDirectoryOptions;
  readonly #database: Database.Database;
  readonly #selectDataVersion: Database.Statement<[], number>;
  readonly #selectChanges: Database.Statement<[number], ChangeRow>;
  readonly #selectOrigins: Database.Statement<[number], string>;
  readonly #selectPlacements: Database.Statement<[number], [verticalAndMode: number | null, shard: number]>;
  readonly #selectKeyId: Database.Statement<[number], string>;
  readonly #selectAccountName: Database.Statement<[number], string>;
  readonly #timer: NodeJS.Timeout;
  readonly #keysByHash = new Map<string, ApiKey>();
  readonly #originsByAccount = new Map<number, readonly string[]>();
  readonly #placementsByAccount = new Map<number, ReadonlyMap<number | null, number>>();
  readonly #keyIdCache = new LRUCache<number, string>({ max: bounds.callerNameCacheEntriesMax });
  readonly #accountNameCache = new LRUCache<number, string>({ max: bounds.callerNameCacheEntriesMax });
  /** Number of the last row that was read from the table `changes`. */
  #lastChange = 0;
  /** Value of SQLite's `data_version` up to which all changes have been read. */
  #loadedVersion = -1;
  #nextBatch: NodeJS.Immediate | undefined;
  #lastMissPollMs = Number.NEGATIVE_INFINITY;
  #isFailing = false;
  #changeListener: () => void = () => {};

  /** Opens the key file, or creates it if the file does not exist. Throws `KeyFileError` if the file cannot be opened. */
  constructor(options: SqliteKeyDirectoryOptions) {
    this.#options = options;
    this.#database = openKeyFile(options.path, bounds.apiKeyCommandLockTimeoutMs);
    try {
      this.#selectDataVersion = this.#database.prepare<[], number>('PRAGMA data_version').pluck();
      this.#selectChanges = this.#database.prepare<[number], ChangeRow>(
        `SELECT changes.number AS change, coalesce(changes.hash, scoped_hash) AS hash, changes.account AS changedAccount,
           keys.number, keys.account, vertical, mode, scope, expires, ${keyLimitColumnsSql}
         FROM changes LEFT JOIN keys ON keys.hash = coalesce(changes.hash, scoped_hash) AND revoked IS NULL
         WHERE changes.number > ? ORDER BY changes.number LIMIT ${bounds.apiKeyChangesPerTurn}`,
      );
      const selectText = (sql: string) => this.#database.prepare<[number], string>(sql).pluck();
      this.#selectOrigins = selectText('SELECT origin FROM embed_origins WHERE account = ? ORDER BY origin');
      this.#selectPlacements = this.#database
        .prepare<[number], [number | null, number]>('SELECT vertical_and_mode, shard FROM placements WHERE account = ?')
        .raw();
      this.#selectKeyId = selectText('SELECT id FROM keys WHERE number = ?');
      this.#selectAccountName = selectText('SELECT name FROM accounts WHERE number = ?');
      this.#loadChangedKeys();
      this.#database.pragma(`busy_timeout = ${bounds.apiKeyReadLockTimeoutMs}`);
    } catch (error) {
      this.#database.close();
      throw error;
    }
    this.#timer = setInterval(() => this.#pollChanges(), bounds.apiKeyPollIntervalMs);
  }

  /** Number of keys that are not revoked, including expired keys. */
  get size(): number {
    return this.#keysByHash.size;
  }

  /**
   * Finds a key by the result of `hashApiKey`. Returns undefined for an unknown or revoked key. Does not check whether the key has expired.
   */
  findKeyByHash(hash: string): ApiKey | undefined {
    return this.#keysByHash.get(hash) ?? this.#pollAndFindKey(hash);
  }

  /**
   * Returns a key ID and an account name for the process log. Reads the key file only for names that are not cached. The key ID or account
   * name is undefined if it is unknown or the key file cannot be read.
   */
  findAccountAndKeyName({ account, keyNumber }: { readonly account: number; readonly keyNumber?: number }) {
    return {
      key: keyNumber === undefined ? undefined : cachedName(keyNumber, this.#keyIdCache, this.#selectKeyId),
      account: cachedName(account, this.#accountNameCache, this.#selectAccountName),
    };
  }

  /** Returns the ID of a key, also of a revoked one; null if the key is unknown or the key file cannot be read. */
  findKeyId(keyNumber: number): string | null {
    return cachedName(keyNumber, this.#keyIdCache, this.#selectKeyId) ?? null;
  }

  /**
   * Returns the allowed origins of an account in a fixed order without duplicates; empty for an unknown account. Returns the same array
   * until the account's origins change, so that callers can use the array as a cache key.
   */
  findOrigins(account: number): readonly string[] {
    return this.#originsByAccount.get(account) ?? noOrigins;
  }

  /**
   * Returns the shard that serves an account in one vertical and mode: the home shard of the account, unless the key file places the account
   * or this vertical and mode of the account on another shard.
   *
   * @param verticalAndMode result of `encodeVerticalAndMode`
   */
  findShard(account: number, verticalAndMode: number): number {
    if (this.#placementsByAccount.size === 0) return homeShard(account);
    const placements = this.#placementsByAccount.get(account);
    return placements?.get(verticalAndMode) ?? placements?.get(null) ?? homeShard(account);
  }

  /** Sets the listener that is called after changes of keys or accounts were read. */
  setChangeListener(listener: () => void): void {
    this.#changeListener = listener;
  }

  /** Reads all new changes of the key file immediately. Call this method after this process has changed the key file. */
  reloadKeyFile(): void {
    this.#tryReadingKeyFile(() => this.#loadChangedKeys());
  }

  /** Closes the directory. Repeated calls have no effect. */
  close(): void {
    clearInterval(this.#timer);
    clearImmediate(this.#nextBatch);
    this.#database.close();
  }

  #pollAndFindKey(hash: string): ApiKey | undefined {
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - this.#lastMissPollMs < bounds.unknownApiKeyPollIntervalMs) return undefined;
    this.#lastMissPollMs = nowMs;
    this.#pollChanges();
    return this.#keysByHash.get(hash);
  }

  #pollChanges(): void {
    clearImmediate(this.#nextBatch);
    this.#tryReadingKeyFile(() => {
      if (!this.#loadChangeBatch()) this.#nextBatch = setImmediate(() => this.#pollChanges());
    });
  }

  #tryReadingKeyFile(load: () => void): void {
    try {
      load();
      if (this.#isFailing) this.#options.onRecovered?.();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#options.onReadError(error);
      this.#isFailing = true;
    }
  }

  #loadChangedKeys(): void {
    while (!this.#loadChangeBatch());
  }

  /** Reads the next batch of changes. Returns true if all changes have been read. */
  #loadChangeBatch(): boolean {
    // Reads `data_version` first, so that the next poll detects a commit that happens while the changes are read.
    const version = this.#selectDataVersion.get();
    if (version === undefined || version === this.#loadedVersion) return true;
    const changes = this.#selectChanges.all(this.#lastChange);
    for (const { change, hash, changedAccount, ...key } of changes) {
      if (hash !== null) this.#setKey(hash.toString('latin1'), key);
      if (changedAccount !== null) this.#loadAccount(changedAccount);
      this.#lastChange = change;
    }
    if (changes.length > 0) this.#changeListener();
    if (changes.length === bounds.apiKeyChangesPerTurn) return false;
    this.#loadedVersion = version;
    return true;
  }

  #setKey(hash: string, key: KeyRow | RemovedKey): void {
    if (key.number === null) {
      this.#keysByHash.delete(hash);
      return;
    }
    const loaded = toApiKey(key);
    this.#keysByHash.set(hash, loaded);
    this.#options.onKeyLoaded?.(loaded);
  }

  /** Reads the embed origins and the placements of an account. */
  #loadAccount(account: number): void {
    const origins = this.#selectOrigins.all(account);
    if (origins.length === 0) this.#originsByAccount.delete(account);
    else this.#originsByAccount.set(account, origins);
    const placements = this.#selectPlacements.all(account);
    if (placements.length === 0) this.#placementsByAccount.delete(account);
    else this.#placementsByAccount.set(account, new Map(placements));
  }
}

/** Looks up a key ID or account name in the cache, then in the key file. Cached names never change. */
function cachedName(
  number: number,
  cache: LRUCache<number, string>,
  find: Database.Statement<[number], string>,
): string | undefined {
  const cached = cache.get(number);
  if (cached !== undefined) return cached;
  try {
    const name = find.get(number);
    cache.set(number, name);
    return name;
  } catch {
    return undefined; // The next poll reports an unreadable key file.
  }
}

const noOrigins: readonly string[] = Object.freeze([]);

function toApiKey(row: KeyRow): ApiKey {
  const { number, account, vertical, mode, expires, limits } = extractLimits(row);
  // A string literal, because V8 compares literals faster than strings from SQLite.
  const scope = row.scope === 'full' ? 'full' : 'analytics';
  return { number, account, vertical, mode, scope, expiresAtMs: expires ?? Number.POSITIVE_INFINITY, limits };
}

/** Columns of the table `keys` for a changed key that is not revoked. */
interface KeyRow extends KeyLimitOverrides, Omit<ApiKey, 'expiresAtMs' | 'limits'> {
  readonly expires: number | null;
}

/** Row for a revoked or deleted key, or for a changed account. Without a matching key, all columns of the table `keys` are null. */
type RemovedKey = { readonly number: null };

type ChangeRow = (KeyRow | RemovedKey) & {
  readonly change: number;
  /** Hash of the changed key; null for a change of an account. */
  readonly hash: Buffer | null;
  /** Number of the account whose embed origins or placements changed; null for a change of a key. */
  readonly changedAccount: number | null;
};
