import type { Database, Statement } from 'better-sqlite3';
import type {
  Analytics,
  DailyResult,
  SessionRowsPage,
  SessionRowsQuery,
  SummaryQuery,
  SummaryResult,
} from './analytics.ts';
import { openAnalyticsDatabaseReadOnly, preparePluck } from './analytics-database.ts';
import { CohortReader } from './cohort-reader.ts';
import { RowsReader } from './rows-reader.ts';
import { ExperimentsReader, type ReferrerTagCount, SessionReader } from './session-reader.ts';
import { RetainedSessions } from './store-retention.ts';

/**
 * Reads analytics from the file of a store, which another process may be writing. A result includes the records that were projected when
 * the query started.
 */
export class ReadOnlyAnalytics implements Analytics {
  readonly healthy = true;
  readonly #database: Database;
  readonly #selectPosition: Statement<[], number>;
  #lastPosition = 0;

  /** Opens the file. Throws `StoreVersionMismatchError` or an SQLite error. */
  constructor(file: string) {
    this.#database = openAnalyticsDatabaseReadOnly(file);
    this.#selectPosition = preparePluck(this.#database, 'SELECT position FROM progress');
  }

  /** Ledger position of the last query's snapshot; 0 before the first query. */
  get projectedPosition(): number {
    return this.#lastPosition;
  }

  async getSummary(query: SummaryQuery): Promise<SummaryResult> {
    return this.#inTransaction((sessions) => new CohortReader(this.#database, sessions).getSummary(query));
  }

  async listDays(query: SummaryQuery): Promise<DailyResult> {
    return this.#inTransaction((sessions) => new CohortReader(this.#database, sessions).listDays(query));
  }

  async listRows(query: SessionRowsQuery): Promise<SessionRowsPage> {
    return this.#inTransaction((sessions) => new RowsReader(this.#database, sessions).listRows(query));
  }

  /** Returns the number of referrer tags per account, vertical and mode. */
  countReferrerTags(): ReferrerTagCount[] {
    return this.#inTransaction(() => new ExperimentsReader(this.#database).countReferrerTags());
  }

  /** Closes the file. Repeated calls have no effect. */
  async close(): Promise<void> {
    this.#database.close();
  }

  /**
   * Runs a query in one read transaction, so that all statements see the same snapshot. `RetainedSessions` is read in
   * the same transaction, because the writing process may delete sessions.
   */
  #inTransaction<Result>(read: (sessions: SessionReader) => Result): Result {
    return this.#database.transaction(() => {
      this.#lastPosition = this.#selectPosition.get() ?? 0;
      return read(new SessionReader(this.#database, new RetainedSessions(this.#database)));
    })();
  }
}
