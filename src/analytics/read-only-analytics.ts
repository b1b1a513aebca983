import type { Database, Statement } from 'better-sqlite3';
import type { Analytics, DailyResult, RowsPage, RowsQuery, SummaryQuery, SummaryResult } from './analytics.ts';
import { openAnalyticsDatabaseReadOnly } from './analytics-database.ts';
import { DailyReader } from './daily-reader.ts';
import { RowsReader } from './rows-reader.ts';
import { ExperimentsReader, SessionReader, type TagCount } from './session-reader.ts';
import { RetainedSessions } from './store-retention.ts';
import { SummaryReader } from './summary-reader.ts';

/**
 * Analytics from the file of a store that another process may be writing. A result includes the records that were projected when
 * the query started.
 */
export class ReadOnlyAnalytics implements Analytics {
  readonly healthy = true;
  readonly #database: Database;
  readonly #selectPosition: Statement<[], number>;
  #lastPosition = 0;

  /** Throws `StoreVersionMismatchError`, and errors of SQLite. */
  constructor(file: string) {
    this.#database = openAnalyticsDatabaseReadOnly(file);
    this.#selectPosition = this.#database.prepare<[], number>('SELECT position FROM progress').pluck();
  }

  /** Position of the last query's snapshot; 0 before the first query. */
  get projectedPosition(): number {
    return this.#lastPosition;
  }

  async getSummary(query: SummaryQuery): Promise<SummaryResult> {
    return this.#inTransaction((sessions) => new SummaryReader(this.#database, sessions).getSummary(query));
  }

  async listDays(query: SummaryQuery): Promise<DailyResult> {
    return this.#inTransaction((sessions) => new DailyReader(this.#database, sessions).listDays(query));
  }

  async listRows(query: RowsQuery): Promise<RowsPage> {
    return this.#inTransaction((sessions) => new RowsReader(this.#database, sessions).listRows(query));
  }

  /** See `ExperimentsReader.countTags`. */
  countTags(): TagCount[] {
    return this.#inTransaction(() => new ExperimentsReader(this.#database).countTags());
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#database.close();
  }

  /** Reads one snapshot. The retained days are read in the transaction too, because the writer may delete sessions at any time. */
  #inTransaction<Result>(read: (sessions: SessionReader) => Result): Result {
    return this.#database.transaction(() => {
      this.#lastPosition = this.#selectPosition.get() ?? 0;
      return read(new SessionReader(this.#database, new RetainedSessions(this.#database)));
    })();
  }
}
