import type { Database, Statement } from 'better-sqlite3';
import type {
  Analytics,
  DailyAnalyticsResult,
  SessionRowsPage,
  SessionRowsQuery,
  SummaryQuery,
  SummaryResult,
  TagsPage,
  TagsQuery,
} from './analytics.ts';
import { openAnalyticsDatabaseReadOnly, prepareArrayQuery, prepareSingleValueQuery } from './analytics-database.ts';
import { CohortReader } from './cohort-reader.ts';
import { SessionRowsReader } from './rows-reader.ts';
import { SessionReader } from './session-reader.ts';
import { RetentionCutoff } from './store-retention.ts';
import { TagsReader } from './tags-reader.ts';

type ReferrerTagCount = readonly [account: number, vertical: number, test: 0 | 1, tags: number];

/** Reads a store to which another process may be writing. A query includes all records that were applied before the query. */
export class ReadOnlyAnalytics implements Analytics {
  readonly healthy = true;
  readonly #database: Database;
  readonly #selectPosition: Statement<[], number>;
  #lastPosition = 0;

  /** Opens the file. Throws `StoreVersionMismatchError` or an SQLite error. */
  constructor(file: string) {
    this.#database = openAnalyticsDatabaseReadOnly(file);
    this.#selectPosition = prepareSingleValueQuery(this.#database, 'SELECT position FROM progress');
  }

  /** Position of the last ledger record that the last query included; 0 before the first query. */
  get appliedPosition(): number {
    return this.#lastPosition;
  }

  async getSummary(query: SummaryQuery): Promise<SummaryResult> {
    return this.#inTransaction((sessions) => new CohortReader(this.#database, sessions).getSummary(query));
  }

  async listDailyAnalytics(query: SummaryQuery): Promise<DailyAnalyticsResult> {
    return this.#inTransaction((sessions) => new CohortReader(this.#database, sessions).listDailyAnalytics(query));
  }

  async listSessions(query: SessionRowsQuery): Promise<SessionRowsPage> {
    return this.#inTransaction((sessions) => new SessionRowsReader(this.#database, sessions).listSessions(query));
  }

  async listTags(query: TagsQuery): Promise<TagsPage> {
    return this.#inTransaction(() => new TagsReader(this.#database).listTags(query));
  }

  /** Returns the number of referrer tags per account, vertical and mode, sorted by this number in descending order. */
  countReferrerTags(): ReferrerTagCount[] {
    const sql = `SELECT account, vertical, test, count(*) AS tags FROM experiment
      GROUP BY account, vertical, test ORDER BY tags DESC, account, vertical, test`;
    return this.#inTransaction(() => prepareArrayQuery<[], ReferrerTagCount>(this.#database, sql).all());
  }

  /** Closes the file. Repeated calls have no effect. */
  async close(): Promise<void> {
    this.#database.close();
  }

  /** Reads the first retained day and runs a query in one transaction, because another process may delete sessions at the same time. */
  #inTransaction<Result>(read: (sessions: SessionReader) => Result): Result {
    return this.#database.transaction(() => {
      this.#lastPosition = this.#selectPosition.get() ?? 0;
      return read(new SessionReader(this.#database, new RetentionCutoff(this.#database)));
    })();
  }
}
