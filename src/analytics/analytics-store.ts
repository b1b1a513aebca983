import type { Database, Statement } from 'better-sqlite3';
import type { AskedPayout, KnownPayout } from '../confirmations/confirmation-history.ts';
import type { LogCursor } from '../events/log-reader.ts';
import type { DailyFigures, RowsPage, RowsQuery, SummaryFigures, SummaryQuery } from './analytics.ts';
import { openAnalyticsDatabase } from './analytics-schema.ts';
import { BatchWriter } from './batch-writer.ts';
import { DailyReader } from './daily-reader.ts';
import { type ExperimentRow, ExperimentsReader } from './experiments-reader.ts';
import { KeptSessions } from './kept-sessions.ts';
import { type FoldTotals, LedgerFold } from './ledger-fold.ts';
import { LedgerSegments } from './ledger-segments.ts';
import { RowsReader } from './rows-reader.ts';
import type { SealedFigures } from './sealed-figures.ts';
import { SessionPruner } from './session-pruner.ts';
import { type Age, StoreRetention } from './store-retention.ts';
import { StoredCounters } from './stored-counters.ts';
import { StoredPast } from './stored-past.ts';
import { StoredRevenue } from './stored-revenue.ts';
import { StoredSessions } from './stored-sessions.ts';
import { SummaryReader } from './summary-reader.ts';

/**
 * The analytics figures in a SQLite file. One thread owns it. Counters, sessions and the place in the ledger they follow
 * from are committed together, so whatever ends the process, each record has counted exactly once when the follower goes on
 * from `cursor`.
 *
 * A batch that throws leaves the file as it was but not the memory of this object: close it and open another.
 */
export class AnalyticsStore {
  readonly #database: Database;
  readonly #kept: KeptSessions;
  readonly #pruner: SessionPruner;
  readonly #retention: StoreRetention;
  readonly #past: StoredPast;
  readonly #writer: BatchWriter;
  readonly #summaries: SummaryReader;
  readonly #revenue: StoredRevenue;
  readonly #days: DailyReader;
  readonly #rows: RowsReader;
  readonly #experiments: ExperimentsReader;
  readonly #atOnce: <Answer>(read: () => Answer) => Answer;
  readonly #progress: Statement<[], ProgressRow>;
  #cursor: LogCursor | null;

  /** Opens or creates the file. Throws `OtherStoreFormat`, or what SQLite throws. */
  constructor(file: string) {
    this.#database = openAnalyticsDatabase(file);
    try {
      this.#kept = new KeptSessions(this.#database);
      this.#pruner = new SessionPruner(this.#database, this.#kept);
      const counters = new StoredCounters(this.#database);
      const segments = new LedgerSegments(this.#database);
      this.#retention = new StoreRetention(this.#database, this.#kept, counters, segments);
      this.#revenue = new StoredRevenue(this.#database, this.#kept);
      this.#past = new StoredPast(this.#database, this.#revenue, this.#kept);
      this.#writer = new BatchWriter(this.#database, counters, segments);
      const sessions = new StoredSessions(this.#database, this.#kept);
      this.#summaries = new SummaryReader(this.#database, sessions);
      this.#days = new DailyReader(this.#database, sessions);
      this.#rows = new RowsReader(this.#database, sessions);
      this.#experiments = new ExperimentsReader(this.#database);
      // In one transaction: otherwise SQLite locks its file anew for every statement.
      const transaction = this.#database.transaction((read: () => unknown) => read());
      this.#atOnce = (read) => transaction(read) as ReturnType<typeof read>;
      this.#progress = this.#database.prepare('SELECT * FROM progress');
      const row = this.#progress.get();
      this.#cursor = row ? { position: row.position, segment: row.segment, offset: row.offset, crc: row.crc } : null;
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Where in the ledger the figures stand; null before the first record. */
  get cursor(): LogCursor | null {
    return this.#cursor;
  }

  get foldedPosition(): number {
    return this.#cursor?.position ?? 0;
  }

  /** One transaction: `read` folds records and returns the cursor after them. */
  foldBatch(read: (fold: LedgerFold) => LogCursor): void {
    const fold = new LedgerFold(this.#past);
    this.#cursor = this.#database
      .transaction(() => {
        const cursor = read(fold);
        this.#past.flush();
        this.#writer.write(fold, cursor);
        return cursor;
      })
      .immediate();
    this.#past.remember(fold);
  }

  /** The first day (day number) whose sessions are kept; 0 when all are. */
  get keptFromDay(): number {
    return this.#kept.fromDay;
  }

  /** As `StoreRetention.seal`. */
  seal(sealed: SealedFigures, age: Age): void {
    if (this.#cursor !== null) this.#retention.seal(sealed, age, this.#cursor);
  }

  /** As `StoreRetention.adopt`. */
  adopt(sealed: SealedFigures): void {
    this.#retention.adopt(sealed, this.#past);
  }

  /** What comes before this position of the ledger is not needed, neither by the store nor to derive it from nothing. */
  neededFrom(sealed: SealedFigures): number {
    return this.#cursor === null ? 0 : this.#retention.neededFrom(sealed, this.#cursor);
  }

  /** Whether rows of sessions that are not kept may be left. */
  get mustPrune(): boolean {
    return this.#pruner.mustPrune;
  }

  /** Removes some of them: a few milliseconds' work. */
  prune(): void {
    this.#pruner.prune();
  }

  summary(query: SummaryQuery): SummaryFigures {
    return this.#atOnce(() => this.#summaries.summary(query));
  }

  daily(query: SummaryQuery): DailyFigures {
    return this.#atOnce(() => this.#days.daily(query));
  }

  rows(query: RowsQuery): RowsPage {
    return this.#atOnce(() => this.#rows.rows(query));
  }

  /** As `ExperimentsReader.page`. */
  experiments(after: number): ExperimentRow[] {
    return this.#experiments.page(after);
  }

  knownPayouts(asked: readonly AskedPayout[]): KnownPayout[] {
    return this.#atOnce(() => this.#revenue.known(asked));
  }

  totals(): FoldTotals {
    const row = this.#progress.get();
    return {
      records: row?.records ?? 0,
      sealedSession: row?.sealed_session ?? 0,
      malformed: row?.malformed ?? 0,
      unknownSession: row?.unknown_session ?? 0,
      repeatedSession: row?.repeated_session ?? 0,
      unshownClicks: row?.unshown_clicks ?? 0,
      duplicateClicks: row?.duplicate_clicks ?? 0,
      lateClicks: row?.late_clicks ?? 0,
      repeatedConfirmations: row?.repeated_confirmations ?? 0,
      unsoundConfirmations: row?.unsound_confirmations ?? 0,
    };
  }

  close(): void {
    this.#database.close();
  }
}

interface ProgressRow extends LogCursor {
  readonly records: number;
  readonly sealed_session: number;
  readonly malformed: number;
  readonly unknown_session: number;
  readonly repeated_session: number;
  readonly unshown_clicks: number;
  readonly duplicate_clicks: number;
  readonly late_clicks: number;
  readonly repeated_confirmations: number;
  readonly unsound_confirmations: number;
}
