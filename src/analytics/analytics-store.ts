import type { Database, Statement } from 'better-sqlite3';
import type { PayoutKey, PayoutStateWithLender } from '../confirmations/payout-state.ts';
import type { LogCursor } from '../event-log/log-reader.ts';
import type { DailyResult, RowsPage, RowsQuery, SummaryQuery, SummaryResult } from './analytics.ts';
import { openAnalyticsDatabase } from './analytics-database.ts';
import { BatchWriter, LedgerSegmentIndex } from './batch-writer.ts';
import type { CounterArchive } from './counter-archive.ts';
import { DailyCounters } from './daily-counters.ts';
import { DailyReader } from './daily-reader.ts';
import { LedgerProjection, type ProjectionTotals } from './ledger-projection.ts';
import { RowsReader } from './rows-reader.ts';
import { type ExperimentRow, ExperimentsReader, SessionReader } from './session-reader.ts';
import { SqliteProjectionState, SqliteRevenueState } from './sqlite-projection-state.ts';
import { RetainedSessions, type RetentionRequest, SessionPruner, StoreRetention } from './store-retention.ts';
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
  readonly #retainedSessions: RetainedSessions;
  readonly #pruner: SessionPruner;
  readonly #retention: StoreRetention;
  readonly #projectionState: SqliteProjectionState;
  readonly #batchWriter: BatchWriter;
  readonly #summaryReader: SummaryReader;
  readonly #revenueState: SqliteRevenueState;
  readonly #dailyReader: DailyReader;
  readonly #rowsReader: RowsReader;
  readonly #experimentsReader: ExperimentsReader;
  readonly #inTransaction: <Answer>(read: () => Answer) => Answer;
  readonly #selectProgress: Statement<[], ProgressRow>;
  #cursor: LogCursor | null;

  /** Opens or creates the file. Throws `StoreVersionMismatch`, or what SQLite throws. */
  constructor(file: string) {
    this.#database = openAnalyticsDatabase(file);
    try {
      this.#retainedSessions = new RetainedSessions(this.#database);
      this.#pruner = new SessionPruner(this.#database, this.#retainedSessions);
      const counters = new DailyCounters(this.#database);
      const segments = new LedgerSegmentIndex(this.#database);
      this.#retention = new StoreRetention(this.#database, this.#retainedSessions, counters, segments);
      this.#revenueState = new SqliteRevenueState(this.#database, this.#retainedSessions);
      this.#projectionState = new SqliteProjectionState(this.#database, this.#revenueState, this.#retainedSessions);
      this.#batchWriter = new BatchWriter(this.#database, counters, segments);
      const sessions = new SessionReader(this.#database, this.#retainedSessions);
      this.#summaryReader = new SummaryReader(this.#database, sessions);
      this.#dailyReader = new DailyReader(this.#database, sessions);
      this.#rowsReader = new RowsReader(this.#database, sessions);
      this.#experimentsReader = new ExperimentsReader(this.#database);
      // In one transaction: otherwise SQLite locks its file anew for every statement.
      const transaction = this.#database.transaction((read: () => unknown) => read());
      this.#inTransaction = (read) => transaction(read) as ReturnType<typeof read>;
      this.#selectProgress = this.#database.prepare('SELECT * FROM progress');
      const row = this.#selectProgress.get();
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

  get projectedPosition(): number {
    return this.#cursor?.position ?? 0;
  }

  /** One transaction: `read` folds records and returns the cursor after them. */
  applyBatch(read: (fold: LedgerProjection) => LogCursor): void {
    const fold = new LedgerProjection(this.#projectionState);
    this.#cursor = this.#database
      .transaction(() => {
        const cursor = read(fold);
        this.#projectionState.flushMetadata();
        this.#batchWriter.write(fold, cursor);
        return cursor;
      })
      .immediate();
    this.#projectionState.cacheSessions(fold);
  }

  /** The first day (day number) whose sessions are kept; 0 when all are. */
  get retainedFromDay(): number {
    return this.#retainedSessions.fromDay;
  }

  /** As `StoreRetention.seal`. */
  applyRetention(sealed: CounterArchive, age: RetentionRequest): void {
    if (this.#cursor !== null) this.#retention.apply(sealed, age, this.#cursor);
  }

  /** As `StoreRetention.adopt`. */
  restoreArchive(sealed: CounterArchive): void {
    this.#retention.restoreArchive(sealed, this.#projectionState);
  }

  /** What comes before this position of the ledger is not needed, neither by the store nor to derive it from nothing. */
  firstNeededPosition(sealed: CounterArchive): number {
    return this.#cursor === null ? 0 : this.#retention.firstNeededPosition(sealed, this.#cursor);
  }

  /** Whether rows of sessions that are not kept may be left. */
  get hasRowsToPrune(): boolean {
    return this.#pruner.hasRowsToPrune;
  }

  /** Removes some of them: a few milliseconds' work. */
  pruneRows(): void {
    this.#pruner.pruneRows();
  }

  getSummary(query: SummaryQuery): SummaryResult {
    return this.#inTransaction(() => this.#summaryReader.getSummary(query));
  }

  listDays(query: SummaryQuery): DailyResult {
    return this.#inTransaction(() => this.#dailyReader.listDays(query));
  }

  listRows(query: RowsQuery): RowsPage {
    return this.#inTransaction(() => this.#rowsReader.listRows(query));
  }

  /** As `ExperimentsReader.page`. */
  listExperiments(after: number): ExperimentRow[] {
    return this.#experimentsReader.listAfter(after);
  }

  findPayoutStates(asked: readonly PayoutKey[]): PayoutStateWithLender[] {
    return this.#inTransaction(() => this.#revenueState.findPayoutStates(asked));
  }

  getTotals(): ProjectionTotals {
    const row = this.#selectProgress.get();
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
