import { rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { bounds } from '../bounds.ts';
import { createPrivateFile } from '../files/durable-files.ts';

const schemaVersion = 1;

/** All hashes are SHA-256. `expires` is in Unix milliseconds. */
const schema = `
  CREATE TABLE logins (
    token_hash BLOB PRIMARY KEY CHECK (length(token_hash) = 32),
    console TEXT NOT NULL CHECK (console IN ('partner', 'operator')),
    secret_hash BLOB NOT NULL CHECK (length(secret_hash) = 32),
    expires INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  PRAGMA user_version = ${schemaVersion};
`;

/** A stored login. Hashes have 32 Latin-1 characters. */
export interface StoredLogin {
  readonly tokenHash: string;
  readonly console: 'partner' | 'operator';
  readonly secretHash: string;
  readonly expiresAtMs: number;
}

interface ConsoleLoginFileOptions {
  readonly path: string;
  /** Called if the file cannot be read. The service then starts without logins, and replaces the file. */
  readonly onReadError: (error: unknown) => void;
  /** Called for the first login that cannot be saved. */
  readonly onWriteError: (error: unknown) => void;
}

export function consoleLoginPath(dataDir: string): string {
  return join(dataDir, 'console-logins.sqlite');
}

/**
 * Stores logins in a SQLite file, so that they survive a restart of the service. A file that is lost, damaged or of another version only
 * ends logins, so no error of the file stops the service.
 */
export class ConsoleLoginFile {
  readonly #options: ConsoleLoginFileOptions;
  #database: Database.Database | null = null;
  #isFailing = false;

  constructor(options: ConsoleLoginFileOptions) {
    this.#options = options;
  }

  /**
   * Opens the file and returns the logins that are valid at `nowMs`, oldest first. Deletes the other logins, also those that expire later
   * than a new login would, because they come from a wrong clock.
   */
  load(nowMs: number): readonly StoredLogin[] {
    try {
      return this.#openAndRead(nowMs);
    } catch (error) {
      this.#options.onReadError(error);
    }
    try {
      this.close();
      this.#deleteFile();
      return this.#openAndRead(nowMs);
    } catch {
      this.close();
      return [];
    }
  }

  add({ tokenHash, console, secretHash, expiresAtMs }: StoredLogin): void {
    this.#write('INSERT INTO logins (token_hash, console, secret_hash, expires) VALUES (?, ?, ?, ?)', [
      toBytes(tokenHash),
      console,
      toBytes(secretHash),
      expiresAtMs,
    ]);
  }

  /**
   * Deletes a login. If this fails, for example on a full disk, deletes the file, so that a restart does not restore a login that has ended.
   * Then the next start has no logins, and later logins are not saved.
   */
  delete(tokenHash: string): void {
    if (this.#write('DELETE FROM logins WHERE token_hash = ?', [toBytes(tokenHash)])) return;
    this.close();
    try {
      this.#deleteFile();
    } catch (error) {
      this.#options.onWriteError(error);
    }
  }

  /** Closes the file. Repeated calls have no effect. */
  close(): void {
    this.#database?.close();
    this.#database = null;
  }

  #openAndRead(nowMs: number): readonly StoredLogin[] {
    const { path } = this.#options;
    createPrivateFile(path);
    const database = new Database(path, { timeout: bounds.apiKeyServerLockTimeoutMs });
    this.#database = database;
    // Without a sync for each login: a power failure may lose the last logins.
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = NORMAL');
    const version = database.pragma('user_version', { simple: true });
    if (version === 0) database.exec(schema);
    else if (version !== schemaVersion) throw new Error(`version ${version} of the file is not supported`);
    database.prepare('DELETE FROM logins WHERE expires <= ? OR expires > ?').run(nowMs, nowMs + bounds.consoleLoginMs);
    return database
      .prepare<[number], LoginRow>(
        `SELECT token_hash AS tokenHash, console, secret_hash AS secretHash, expires AS expiresAtMs
         FROM logins ORDER BY expires DESC LIMIT ?`,
      )
      .all(2 * bounds.consoleLoginsMax)
      .reverse()
      .map((row) => ({
        ...row,
        tokenHash: row.tokenHash.toString('latin1'),
        secretHash: row.secretHash.toString('latin1'),
      }));
  }

  #deleteFile(): void {
    for (const ending of ['', '-wal', '-shm']) rmSync(this.#options.path + ending, { force: true });
  }

  /** Returns false if the file cannot be written. */
  #write(sql: string, values: readonly unknown[]): boolean {
    try {
      this.#database?.prepare(sql).run(...values);
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#options.onWriteError(error);
      this.#isFailing = true;
    }
    return !this.#isFailing;
  }
}

interface LoginRow extends Omit<StoredLogin, 'tokenHash' | 'secretHash'> {
  readonly tokenHash: Buffer;
  readonly secretHash: Buffer;
}

function toBytes(hash: string): Buffer {
  return Buffer.from(hash, 'latin1');
}
