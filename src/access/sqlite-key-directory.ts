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
}

/**
 * Holds all keys of the key file in memory, and all origins that widgets may be embedded in, and follows what other processes
 * write to it: SQLite's `data_version` changes with every commit of another connection and costs some 2 us to ask. It is asked
 * every second, and, so that a key works as soon as the command that made it has printed it, when an unknown key is presented.
 */
export class SqliteKeyDirectory implements KeyDirectory {
  readonly #clock: Clock;
  readonly #onFault: (fault: unknown) => void;
  readonly #database: Database.Database;
  readonly #version: Database.Statement<[], number>;
  readonly #rows: Database.Statement<[], KeyRow>;
  readonly #originRows: Database.Statement<[], OriginRow>;
  readonly #timer: NodeJS.Timeout;
  #keys: ReadonlyMap<string, ApiKey> = new Map();
  #origins: ReadonlyMap<number, readonly string[]> = new Map();
  #loadedVersion = -1;
  #missPolledAtMs = Number.NEGATIVE_INFINITY;
  #faulty = false;

  /** Where the widgets of each account may be embedded, kept as fresh as the keys are. */
  readonly origins: EmbedOrigins = { of: (account) => this.#origins.get(account) ?? noOrigins };

  /** Creates the file when there is none. Throws `KeyFileError`. */
  constructor(options: SqliteKeyDirectoryOptions) {
    this.#clock = options.clock;
    this.#onFault = options.onFault;
    this.#database = openKeyFile(options.path, bounds.keyWriteWaitMs);
    try {
      this.#version = this.#database.prepare<[], number>('PRAGMA data_version').pluck();
      this.#rows = this.#database.prepare<[], KeyRow>(
        `SELECT number, account, vertical, mode, hash, expires,
           requests_per_minute AS requestsPerMinute, analytics_per_minute AS analyticsPerMinute,
           sessions_per_day AS sessionsPerDay
         FROM keys WHERE revoked IS NULL`,
      );
      this.#originRows = this.#database
        .prepare<[], OriginRow>('SELECT account, origin FROM embed_origins ORDER BY account, origin')
        .raw();
      this.#load();
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

  /** Looks for changes at once: for whoever has just made one. */
  refresh(): void {
    this.#poll();
  }

  close(): void {
    clearInterval(this.#timer);
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
    try {
      this.#load();
      this.#faulty = false;
    } catch (fault) {
      if (!this.#faulty) this.#onFault(fault);
      this.#faulty = true;
    }
  }

  #load(): void {
    // The version is read before the rows: a commit between the two makes the next poll read them once more.
    const version = this.#version.get();
    if (version === undefined || version === this.#loadedVersion) return;
    const keys = new Map(this.#rows.all().map((row) => [row.hash.toString('latin1'), apiKey(row)]));
    this.#origins = byAccount(this.#originRows.all());
    this.#keys = keys;
    this.#loadedVersion = version;
  }
}

const noOrigins: readonly string[] = Object.freeze([]);

function byAccount(rows: readonly OriginRow[]): ReadonlyMap<number, readonly string[]> {
  const lists = new Map<number, string[]>();
  for (const [account, origin] of rows) {
    const list = lists.get(account);
    if (list === undefined) lists.set(account, [origin]);
    else list.push(origin);
  }
  return lists;
}

function apiKey({ number, account, vertical, mode, expires, ...own }: KeyRow): ApiKey {
  const { requestsPerMinute, analyticsPerMinute, sessionsPerDay } = own;
  const limits = { requestsPerMinute, analyticsPerMinute, sessionsPerDay };
  return { number, account, vertical, mode, expiresAtMs: expires ?? Number.POSITIVE_INFINITY, limits };
}

type OriginRow = readonly [account: number, origin: string];

interface KeyRow {
  readonly number: number;
  readonly account: number;
  readonly vertical: string;
  readonly mode: Mode;
  readonly hash: Buffer;
  readonly expires: number | null;
  readonly requestsPerMinute: number | null;
  readonly analyticsPerMinute: number | null;
  readonly sessionsPerDay: number | null;
}
