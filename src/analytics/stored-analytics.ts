import type { Database, Statement } from 'better-sqlite3';
import type { Analytics, DailyFigures, RowsPage, RowsQuery, SummaryFigures, SummaryQuery } from './analytics.ts';
import { openAnalyticsDatabaseToRead } from './analytics-schema.ts';
import { DailyReader } from './daily-reader.ts';
import { ExperimentsReader, type TagCount } from './experiments-reader.ts';
import { KeptSessions } from './kept-sessions.ts';
import { RowsReader } from './rows-reader.ts';
import { StoredSessions } from './stored-sessions.ts';
import { SummaryReader } from './summary-reader.ts';

/**
 * Answers from the file of a store, which another process may be writing, and waits for nobody: an answer counts what was folded
 * when it was asked for.
 */
export class StoredAnalytics implements Analytics {
  readonly healthy = true;
  readonly #database: Database;
  readonly #position: Statement<[], number>;
  #answered = 0;

  /** Throws `OtherStoreFormat`, or what SQLite throws. */
  constructor(file: string) {
    this.#database = openAnalyticsDatabaseToRead(file);
    this.#position = this.#database.prepare<[], number>('SELECT position FROM progress').pluck();
  }

  /** As of the last answer; 0 before the first, and where nothing has been folded. */
  get foldedPosition(): number {
    return this.#answered;
  }

  async summary(query: SummaryQuery): Promise<SummaryFigures> {
    return this.#read((sessions) => new SummaryReader(this.#database, sessions).summary(query));
  }

  async daily(query: SummaryQuery): Promise<DailyFigures> {
    return this.#read((sessions) => new DailyReader(this.#database, sessions).daily(query));
  }

  async rows(query: RowsQuery): Promise<RowsPage> {
    return this.#read((sessions) => new RowsReader(this.#database, sessions).rows(query));
  }

  /** As `ExperimentsReader.counts`. */
  tagCounts(): TagCount[] {
    return this.#read(() => new ExperimentsReader(this.#database).counts());
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#database.close();
  }

  /** In one transaction, which sees one moment of the file, also of which sessions are kept: the writer may give some up meanwhile. */
  #read<Answer>(read: (sessions: StoredSessions) => Answer): Answer {
    return this.#database.transaction(() => {
      this.#answered = this.#position.get() ?? 0;
      return read(new StoredSessions(this.#database, new KeptSessions(this.#database)));
    })();
  }
}
