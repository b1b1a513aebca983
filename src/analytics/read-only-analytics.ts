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
import { openAnalyticsDatabaseReadOnly } from './analytics-database.ts';
import { readDailyAnalytics, readSummary } from './cohort-reader.ts';
import { readSessionRows } from './rows-reader.ts';
import type { SqlDatabase } from './sql-database.ts';
import { countTags, readTags, type TagCount } from './tags-reader.ts';

/** Reads a store to which another process may be writing. A query includes all records that were applied before the query. */
export class ReadOnlyAnalytics implements Analytics {
  readonly healthy = true;
  readonly #database: SqlDatabase;
  #lastPosition = 0;

  /** Opens the file. Throws `StoreVersionMismatchError` or an SQLite error. */
  constructor(file: string) {
    this.#database = openAnalyticsDatabaseReadOnly(file);
  }

  /** Position of the last ledger record that the last query included; 0 before the first query. */
  get appliedPosition(): number {
    return this.#lastPosition;
  }

  async getSummary(query: SummaryQuery): Promise<SummaryResult> {
    return this.#read((database) => readSummary(database, query));
  }

  async listDailyAnalytics(query: SummaryQuery): Promise<DailyAnalyticsResult> {
    return this.#read((database) => readDailyAnalytics(database, query));
  }

  async listSessions(query: SessionRowsQuery): Promise<SessionRowsPage> {
    return this.#read((database) => readSessionRows(database, query));
  }

  async listTags(query: TagsQuery): Promise<TagsPage> {
    return this.#read((database) => readTags(database, query));
  }

  countReferrerTags(): TagCount[] {
    return this.#read(countTags);
  }

  /** Closes the file. Repeated calls have no effect. */
  async close(): Promise<void> {
    this.#database.close();
  }

  /** Runs a query and reads its position in one transaction. */
  #read<Result>(read: (database: SqlDatabase) => Result): Result {
    return this.#database.read(() => {
      this.#lastPosition = this.#database.value<number>('SELECT position FROM progress') ?? 0;
      return read(this.#database);
    });
  }
}
