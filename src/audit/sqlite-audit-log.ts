import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { bounds } from '../bounds.ts';
import { diskFullMessage, isDiskFullError } from '../files/durable-files.ts';
import { copySqliteFile, isSqliteFileBusy, openSqliteFile, type SqliteFileFormat } from '../files/shared-database.ts';
import type { AuditAction } from './audit-actions.ts';
import {
  type AuditActor,
  type AuditChange,
  type AuditEntry,
  type AuditEntryId,
  type AuditLog,
  AuditLogUnavailableError,
  type AuditPageQuery,
  type HashedContent,
  hashEntry,
  toEntryContent,
  zeroHash,
} from './audit-log.ts';

const format: SqliteFileFormat = {
  name: 'audit log',
  migrations: [
    `
  -- Entries are never changed or deleted. Numbers have no gaps, except before an entry audit.accept_loss.
  CREATE TABLE entries (
    number INTEGER PRIMARY KEY,
    time INTEGER NOT NULL,
    actor TEXT NOT NULL,
    actor_name TEXT,
    action TEXT NOT NULL,
    subject TEXT NOT NULL,
    details TEXT NOT NULL,
    previous_hash TEXT NOT NULL,
    hash TEXT NOT NULL
  ) STRICT;
  CREATE INDEX entries_by_time ON entries (time);
  CREATE INDEX entries_by_action ON entries (action, number);
  CREATE INDEX entries_by_subject ON entries (subject);
`,
  ],
  createError: (message, options) => new AuditLogUnavailableError(message, options),
};

export function auditLogPath(dataDir: string): string {
  return join(dataDir, 'audit.sqlite');
}

const selectEntriesSql = `SELECT number, time AS timeMs, actor AS actorKind, actor_name AS actorName, action, subject, details,
  previous_hash AS previousHash, hash FROM entries`;

/** Audit log in a SQLite file. */
export class SqliteAuditLog implements AuditLog {
  readonly #path: string;
  readonly #database: Database.Database;
  readonly #selectEnd: Database.Statement<[], AuditEntryId>;
  readonly #insert: Database.Statement<[AuditEntry]>;

  /**
   * Opens the file, or creates it. Throws `AuditLogUnavailableError`.
   *
   * @param waitMs maximum time in milliseconds that one call blocks the thread while another process writes
   */
  constructor(path: string, waitMs: number) {
    this.#path = path;
    this.#database = openSqliteFile(path, format, bounds.auditCommandLockTimeoutMs);
    try {
      this.#database.pragma(`busy_timeout = ${waitMs}`);
      this.#database.pragma('synchronous = FULL');
      this.#selectEnd = this.#database.prepare('SELECT number, hash FROM entries ORDER BY number DESC LIMIT 1');
      this.#insert = this.#database.prepare(
        `INSERT INTO entries (number, time, actor, actor_name, action, subject, details, previous_hash, hash)
         VALUES (@number, @timeMs, @actorKind, @actorName, @action, @subject, @details, @previousHash, @hash)`,
      );
    } catch (error) {
      this.#database.close();
      throw this.#toUnavailableError('read', error);
    }
  }

  append(changes: readonly AuditChange[]): readonly AuditEntry[] {
    if (changes.length === 0) return [];
    return this.#write(() => {
      const end = this.#selectEnd.get() ?? this.#appendFirstEntry(changes);
      return this.#appendAfter(end, changes);
    });
  }

  /**
   * Appends an entry `audit.accept_loss` to a log that has lost entries up to `known`, or to a new file that replaces a lost file. Returns
   * the entry.
   */
  appendAcceptedLoss(timeMs: number, actor: AuditActor, known: AuditEntryId): AuditEntry {
    return this.#write(() => {
      const { number, hash } = this.#selectEnd.get() ?? { number: 0, hash: known.hash };
      const details = { lost_from: number + 1, lost_to: Math.max(known.number, number) };
      const change = { timeMs, actor, action: 'audit.accept_loss', subject: 'audit log', details } as const;
      return this.#insertEntry(toEntryContent(change, details.lost_to + 1, hash));
    });
  }

  listEntries({ limit, beforeNumber, action, sinceMs }: AuditPageQuery): readonly AuditEntry[] {
    return this.#read(() => {
      // The number of the first such entry bounds the search, which would otherwise read all older entries.
      // The plus sign makes SQLite read the index of times instead of all entries from the oldest on.
      const since = 'SELECT min(+number) FROM entries WHERE time >= ?';
      const first = sinceMs === null ? 1 : this.#database.prepare<[number], number | null>(since).pluck().get(sinceMs);
      if (first === null) return [];
      const sql = `${selectEntriesSql} WHERE number >= @first AND number < @before AND time >= @sinceMs
        ${action === null ? '' : 'AND action = @action'} ORDER BY number DESC LIMIT @limit`;
      const before = beforeNumber ?? Number.MAX_SAFE_INTEGER;
      return this.#database
        .prepare<[object], AuditEntry>(sql)
        .all({ first, before, sinceMs: sinceMs ?? -bounds.timestampMsMax, action, limit });
    });
  }

  findLastEntry(action: AuditAction, subject: string): AuditEntry | null {
    return this.#read(
      () =>
        this.#database
          .prepare<[string, string], AuditEntry>(
            `${selectEntriesSql} WHERE subject = ? AND +action = ? ORDER BY number DESC LIMIT 1`,
          )
          .get(subject, action) ?? null,
    );
  }

  /** Returns up to `limit` entries with numbers above `number`, oldest first. */
  readEntriesAfter(number: number, limit: number): readonly AuditEntry[] {
    return this.#read(() =>
      this.#database
        .prepare<[number, number], AuditEntry>(`${selectEntriesSql} WHERE number > ? ORDER BY number LIMIT ?`)
        .all(number, limit),
    );
  }

  /** Returns the last entry, or null if the log is empty. */
  readEnd(): AuditEntryId | null {
    return this.#read(() => this.#selectEnd.get() ?? null);
  }

  /** Returns the hash of an entry, or null if there is no such entry. */
  findHash(number: number): string | null {
    return this.#read(
      () =>
        this.#database.prepare<[number], string>('SELECT hash FROM entries WHERE number = ?').pluck().get(number) ??
        null,
    );
  }

  /** Copies a consistent snapshot to a new file. */
  copyTo(target: string): Promise<void> {
    return copySqliteFile(this.#database, target);
  }

  /** Closes the file. Repeated calls have no effect. */
  close(): void {
    this.#database.close();
  }

  /** The first entry has a random id, so that the hashes of two logs always differ. */
  #appendFirstEntry([change]: readonly AuditChange[]): AuditEntryId {
    const details = { log_id: randomBytes(8).toString('hex') };
    const created = { ...change!, action: 'audit.create', subject: 'audit log', details } as const;
    return this.#insertEntry(toEntryContent(created, 1, zeroHash));
  }

  #appendAfter(end: AuditEntryId, changes: readonly AuditChange[]): readonly AuditEntry[] {
    const entries: AuditEntry[] = [];
    for (const change of changes) {
      const { number, hash } = entries.at(-1) ?? end;
      entries.push(this.#insertEntry(toEntryContent(change, number + 1, hash)));
    }
    return entries;
  }

  #insertEntry(content: HashedContent): AuditEntry {
    const entry = { ...content, hash: hashEntry(content) };
    this.#insert.run(entry);
    return entry;
  }

  /** An immediate transaction excludes other writers from the read of the last hash to the commit. */
  #write<Result>(write: () => Result): Result {
    try {
      return this.#database.transaction(write).immediate();
    } catch (error) {
      throw this.#toUnavailableError('written', error);
    }
  }

  #read<Result>(read: () => Result): Result {
    try {
      return read();
    } catch (error) {
      throw this.#toUnavailableError('read', error);
    }
  }

  #toUnavailableError(access: 'read' | 'written', error: unknown): unknown {
    if (!(error instanceof Database.SqliteError)) return error;
    const busy = isSqliteFileBusy(error) ? 'another process has locked the file' : error.message;
    const reason = isDiskFullError(error) ? diskFullMessage(dirname(this.#path)) : busy;
    return new AuditLogUnavailableError(`the audit log ${this.#path} cannot be ${access}: ${reason}`, { cause: error });
  }
}
