import type { Database, Statement } from 'better-sqlite3';
import type { Analytics, DailyResult, RowsPage, RowsQuery, SummaryQuery, SummaryResult } from './analytics.ts';
import { openAnalyticsDatabaseReadOnly } from './analytics-database.ts';
import { DailyReader } from './daily-reader.ts';
import { RowsReader } from './rows-reader.ts';
import { ExperimentsReader, SessionReader, type TagCount } from './session-reader.ts';
import { RetainedSessions } from './store-retention.ts';
import { SummaryReader } from './summary-reader.ts';

/**
 * Answers from the file of a store, which another process may be writing, and waits for nobody: an answer counts what was folded
 * when it was asked for.
 */
export class ReadOnlyAnalytics implements Analytics {
  readonly healthy = true;
  readonly #database: Database;
  readonly #selectPosition: Statement<[], number>;
  #lastPosition = 0;

  /** Throws `StoreVersionMismatch`, or what SQLite throws. */
  constructor(file: string) {
    this.#database = openAnalyticsDatabaseReadOnly(file);
    this.#selectPosition = this.#database.prepare<[], number>('SELECT position FROM progress').pluck();
  }

  /** As of the last answer; 0 before the first, and where nothing has been folded. */
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

  /** As `ExperimentsReader.counts`. */
  countTags(): TagCount[] {
    return this.#inTransaction(() => new ExperimentsReader(this.#database).countTags());
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#database.close();
  }

  /** In one transaction, which sees one moment of the file, also of which sessions are kept: the writer may give some up meanwhile. */
  #inTransaction<Answer>(read: (sessions: SessionReader) => Answer): Answer {
    return this.#database.transaction(() => {
      this.#lastPosition = this.#selectPosition.get() ?? 0;
      return read(new SessionReader(this.#database, new RetainedSessions(this.#database)));
    })();
  }
}
