import type { Database, Statement } from 'better-sqlite3';
import { bounds } from '../bounds.ts';
import type { PayoutKey, PayoutStateWithLender } from '../confirmations/payout-state.ts';
import type { LogCursor } from '../event-log/log-scanner.ts';
import type {
  DailyAnalyticsResult,
  SessionRowsPage,
  SessionRowsQuery,
  SummaryQuery,
  SummaryResult,
  TagsPage,
  TagsQuery,
} from './analytics.ts';
import { openAnalyticsDatabase, prepareArrayQuery } from './analytics-database.ts';
import { AnalyticsBatchWriter } from './batch-writer.ts';
import { CohortReader } from './cohort-reader.ts';
import type { CounterArchive } from './counter-archive.ts';
import { DailyCounters } from './daily-counters.ts';
import { LedgerProjection } from './ledger-projection.ts';
import { emptyRecordCounts, type RecordCounts, recordCountColumns, recordCountNames } from './projection-state.ts';
import { SessionRowsReader } from './rows-reader.ts';
import { SessionReader } from './session-reader.ts';
import { SqliteProjectionState } from './sqlite-projection-state.ts';
import {
  AnalyticsRetention,
  RetentionCutoff,
  type RetentionRequest,
  type RetentionResult,
  SessionPruner,
} from './store-retention.ts';
import { TagsReader } from './tags-reader.ts';

/** An experiment is a referrer tag that has sessions. Experiments are numbered in the order in which their first sessions were created. */
export type ExperimentRow = readonly [number: number, account: number, vertical: number, test: 0 | 1, tag: string];

/**
 * The analytics store is an SQLite file that only one thread uses. Counters, sessions and the ledger cursor are committed together. After a
 * crash, `LedgerFollower` continues at the committed `cursor`, so each record is counted exactly once.
 *
 * If `applyBatch` throws, close and reopen the store, because its caches may no longer match the file. The file is unchanged.
 */
export class AnalyticsStore {
  readonly #database: Database;
  readonly #retainedSessions: RetentionCutoff;
  readonly pruner: SessionPruner;
  readonly #retention: AnalyticsRetention;
  readonly #projectionState: SqliteProjectionState;
  readonly #batchWriter: AnalyticsBatchWriter;
  readonly #cohortReader: CohortReader;
  readonly #rowsReader: SessionRowsReader;
  readonly #tagsReader: TagsReader;
  readonly #selectExperiments: Statement<[number, number], ExperimentRow>;
  readonly #inTransaction: <Result>(read: () => Result) => Result;
  readonly #selectTotals: Statement<[], RecordCounts>;
  #cursor: LogCursor | null;

  /** Opens or creates the analytics store. Throws `StoreVersionMismatchError` or an SQLite error. */
  constructor(file: string) {
    this.#database = openAnalyticsDatabase(file);
    try {
      this.#retainedSessions = new RetentionCutoff(this.#database);
      this.pruner = new SessionPruner(this.#database, this.#retainedSessions);
      const counters = new DailyCounters(this.#database);
      this.#retention = new AnalyticsRetention(this.#database, this.#retainedSessions, counters);
      this.#projectionState = new SqliteProjectionState(this.#database, this.#retainedSessions);
      this.#batchWriter = new AnalyticsBatchWriter(this.#database, counters);
      const sessions = new SessionReader(this.#database, this.#retainedSessions);
      this.#cohortReader = new CohortReader(this.#database, sessions);
      this.#rowsReader = new SessionRowsReader(this.#database, sessions);
      this.#tagsReader = new TagsReader(this.#database);
      this.#selectExperiments = prepareArrayQuery(
        this.#database,
        'SELECT number, account, vertical, test, tag FROM experiment WHERE number > ? ORDER BY number LIMIT ?',
      );
      // Each query runs in one transaction, because SQLite would otherwise lock the file separately for each statement.
      const transaction = this.#database.transaction((read: () => unknown) => read());
      this.#inTransaction = (read) => transaction(read) as ReturnType<typeof read>;
      const totals = recordCountColumns.map((column, index) => `${column} AS ${recordCountNames[index]}`);
      this.#selectTotals = this.#database.prepare(`SELECT ${totals.join(', ')} FROM progress`);
      const selectCursor = this.#database.prepare<[], LogCursor>(
        'SELECT position, segment, "offset", crc FROM progress',
      );
      this.#cursor = selectCursor.get() ?? null;
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Ledger cursor after the last applied record; null before the first record. */
  get cursor(): LogCursor | null {
    return this.#cursor;
  }

  get appliedPosition(): number {
    return this.#cursor?.position ?? 0;
  }

  /** Applies a batch of records in one transaction. The callback `read` applies the records and returns the new ledger cursor. */
  applyBatch(read: (projection: LedgerProjection) => LogCursor): void {
    const projection = new LedgerProjection(this.#projectionState);
    this.#cursor = this.#database
      .transaction(() => {
        const cursor = read(projection);
        this.#projectionState.flushSessionMetadata();
        this.#batchWriter.write(projection, cursor);
        return cursor;
      })
      .immediate();
    this.#projectionState.cacheSessions(projection);
  }

  applyRetention(archive: CounterArchive, request: RetentionRequest): RetentionResult {
    return this.#retention.applyRetention(archive, request, this.#cursor);
  }

  /** Copies the archived counters into the store unless the store already includes all archived days. */
  restoreArchivedCounters(archive: CounterArchive): void {
    this.#retention.restoreArchivedCounters(archive, this.#projectionState);
  }

  getSummary(query: SummaryQuery): SummaryResult {
    return this.#inTransaction(() => this.#cohortReader.getSummary(query));
  }

  listDailyAnalytics(query: SummaryQuery): DailyAnalyticsResult {
    return this.#inTransaction(() => this.#cohortReader.listDailyAnalytics(query));
  }

  listSessions(query: SessionRowsQuery): SessionRowsPage {
    return this.#inTransaction(() => this.#rowsReader.listSessions(query));
  }

  listTags(query: TagsQuery): TagsPage {
    return this.#inTransaction(() => this.#tagsReader.listTags(query));
  }

  /** Lists experiments. Experiments are never deleted, because their daily figures are never deleted. */
  listExperiments(afterNumber: number): ExperimentRow[] {
    return this.#selectExperiments.all(afterNumber, bounds.experimentsPerPage);
  }

  findPayoutStates(keys: readonly PayoutKey[]): PayoutStateWithLender[] {
    return this.#inTransaction(() => this.#projectionState.findPayoutStates(keys));
  }

  getTotals(): RecordCounts {
    return this.#selectTotals.get() ?? { ...emptyRecordCounts };
  }

  close(): void {
    this.#database.close();
  }
}
