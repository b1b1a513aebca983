import type { PayoutKey, PayoutStateWithLender } from '../confirmations/payout-state.ts';
import type { LogCursor } from '../event-log/log-scanner.ts';
import { openAnalyticsDatabase, recordCountColumns } from './analytics-database.ts';
import { readDailyAnalytics, readSummary } from './cohort-reader.ts';
import type { CounterArchive } from './counter-archive.ts';
import { readBreakdown } from './experiments/experiment-breakdown-reader.ts';
import { readExperimentFigures } from './experiments/experiment-figures-reader.ts';
import { ExperimentFill } from './experiments/experiment-fill.ts';
import { createResultsReader } from './experiments/experiment-results-reader.ts';
import {
  checkDefinition,
  countExperiments,
  findExperiment,
  listExperiments,
  listHashExperiments,
} from './experiments/experiment-table.ts';
import { readExperimentUnits } from './experiments/experiment-units-reader.ts';
import { LedgerProjection } from './ledger-projection.ts';
import { readOfferTotals } from './offer-totals.ts';
import { readOffers } from './offers-reader.ts';
import { emptyRecordCounts, type RecordCounts, recordCountNames } from './projection-state.ts';
import { readSessionRows } from './rows-reader.ts';
import type { SqlDatabase } from './sql-database.ts';
import { SqliteProjectionState } from './sqlite-projection-state.ts';
import { type RetentionRequest, type RetentionResult, StoreRetention } from './store-retention.ts';
import { readStoreVersion } from './store-upgrades.ts';
import { readNumberedTags, readTags } from './tags-reader.ts';

const totalColumns = recordCountColumns.map((column, index) => `${column} AS ${recordCountNames[index]}`);
const selectTotalsSql = `SELECT ${totalColumns.join(', ')} FROM progress`;

/**
 * The analytics store is an SQLite file that only one thread uses. Counters, sessions and the ledger cursor are committed together. After a
 * crash, `LedgerFollower` continues at the committed `cursor`, so each record is counted exactly once.
 *
 * If `applyBatch` throws, close and reopen the store, because its caches may no longer match the file. The file is unchanged.
 */
export class AnalyticsStore {
  readonly #database: SqlDatabase;
  readonly #state: SqliteProjectionState;
  /** Whether the figures must be computed again (`StoreUpgrade`). */
  readonly isOutdated: boolean;
  readonly retention: StoreRetention;
  readonly fill: ExperimentFill;
  #cursor: LogCursor | null;
  readonly getSummary = this.#createQuery(readSummary);
  readonly listDailyAnalytics = this.#createQuery(readDailyAnalytics);
  readonly listSessions = this.#createQuery(readSessionRows);
  readonly listOffers = this.#createQuery(readOffers);
  readonly listOfferTotals = this.#createQuery(readOfferTotals);
  readonly listTags = this.#createQuery(readTags);
  readonly listNumberedTags = this.#createQuery(readNumberedTags);
  readonly findExperiment = this.#createQuery(findExperiment);
  readonly checkDefinition = this.#createQuery(checkDefinition);
  readonly listExperiments = this.#createQuery(listExperiments);
  readonly countExperiments = this.#createQuery(countExperiments);
  readonly listHashExperiments = this.#createQuery(listHashExperiments);
  readonly readExperimentFigures = this.#createQuery(readExperimentFigures);
  readonly readBreakdown = this.#createQuery(readBreakdown);
  readonly getExperimentResults = this.#createQuery(createResultsReader());
  readonly listExperimentUnits = this.#createQuery(readExperimentUnits);

  /**
   * Opens or creates the analytics store. Copies the archived counters into the store unless the store already includes all archived days.
   * Throws `StoreVersionMismatchError`, `LogDamagedError` or an SQLite error.
   */
  constructor(file: string, archive: CounterArchive) {
    this.#database = openAnalyticsDatabase(file);
    try {
      this.isOutdated = readStoreVersion(this.#database).isOutdated;
      this.#state = new SqliteProjectionState(this.#database);
      this.fill = new ExperimentFill(this.#database, this.#state);
      this.retention = new StoreRetention(this.#database, archive, this.#state);
      this.retention.restoreArchivedCounters();
      const cursorSql = 'SELECT position, segment, "offset", crc FROM progress';
      this.#cursor = this.#database.object<LogCursor>(cursorSql);
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
    const projection = new LedgerProjection(this.#state, this.retention.firstRetainedSubId);
    this.#cursor = this.#database.write(() => {
      const cursor = read(projection);
      this.#state.writeBatch(projection, cursor);
      return cursor;
    });
    this.#state.cacheSessions();
    this.retention.onBatchApplied(projection.smallestSubId);
  }

  /**
   * Archives some of the daily counters of days that are older than the retention period. Call this method only after all acknowledged
   * records have been applied, because records of sessions from archived days are ignored afterwards.
   */
  applyRetention(request: RetentionRequest): RetentionResult {
    return this.retention.applyRetention(request, this.#cursor);
  }

  findPayoutStates(keys: readonly PayoutKey[]): PayoutStateWithLender[] {
    return this.#database.read(() => this.#state.findPayoutStates(keys, this.retention.firstRetainedSubId));
  }

  /** Returns the totals of all applied records. */
  getTotals(): RecordCounts {
    return this.#database.object<RecordCounts>(selectTotalsSql) ?? { ...emptyRecordCounts };
  }

  close(): void {
    this.retention.close();
    this.#database.close();
  }

  #createQuery<Query, Result>(read: (database: SqlDatabase, query: Query) => Result): (query: Query) => Result {
    return (query) => this.#database.read(() => read(this.#database, query));
  }
}
