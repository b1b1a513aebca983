import { setImmediate as nextTurn } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import { nodeFileSystem } from '../event-log/log-files.ts';
import { parseSegmentFileNames } from '../event-log/log-format.ts';
import { CursorBeyondLogError, LogReader } from '../event-log/log-reader.ts';
import type { DataPaths } from '../files/data-paths.ts';
import type { AggregatorQuery, QueryExecutors, QueryName, QueryResult } from './aggregator-protocol.ts';
import { deleteAnalyticsDatabase, isCorruptDatabaseError, replaceAnalyticsDatabase } from './analytics-database.ts';
import { AnalyticsStore } from './analytics-store.ts';
import { CounterArchive } from './counter-archive.ts';
import type { RecordCounts } from './projection-state.ts';
import type { RetentionResult } from './store-retention.ts';
import { StoreVersionMismatchError } from './store-upgrades.ts';

/**
 * Reads the ledger records that the analytics store does not contain yet, and applies these records to the analytics store in batches. Each
 * ledger record is applied exactly once. If the store does not match the ledger or cannot be read, the store is rebuilt from the archive
 * and the whole ledger. If only its figures are outdated (`StoreUpgrade`), it remains in use while a replacement is built beside it. A
 * replacement that was not finished when the ledger follower was closed is built from the beginning.
 *
 * An error in any method closes the ledger follower, but a failed write to the archive does not. A new ledger follower continues after the
 * last committed batch.
 */
export class LedgerFollower {
  readonly #files: DataPaths;
  readonly #onRebuild: (reason: string) => void;
  readonly #onOutdated: () => void;
  readonly #archive: CounterArchive;
  #store: AnalyticsStore;
  #reader: LogReader;
  /** Builds the store that replaces a store with outdated figures. */
  #replacement: LedgerFollower | null = null;

  /**
   * Opens the analytics store. A store that cannot be used is deleted and rebuilt. Throws `LogDamagedError` or an SQLite error.
   *
   * @param onRebuild called with a message when a rebuild starts, and when a rebuild cannot restore some records
   * @param onOutdated called if a store with outdated figures remains in use, because the archive lacks days that only this store has
   */
  constructor(files: DataPaths, onRebuild: (reason: string) => void, onOutdated: () => void = () => {}) {
    this.#files = files;
    this.#onRebuild = onRebuild;
    this.#onOutdated = onOutdated;
    this.#archive = new CounterArchive(files.archiveFolder);
    try {
      [this.#store, this.#reader] = this.#open();
    } catch (error) {
      const isUnusable = error instanceof StoreVersionMismatchError || error instanceof CursorBeyondLogError;
      if (!isUnusable && !isCorruptDatabaseError(error)) throw error;
      onRebuild(error.message);
      this.#deleteAnalyticsStore();
      [this.#store, this.#reader] = this.#open();
    }
    if (this.#store.cursor === null) {
      const missing = describeMissingRecords(files.ledgerFolder, this.#archive.ledgerStartPosition);
      if (missing !== null) onRebuild(missing);
    }
    // A replacement that was not finished is deleted.
    deleteAnalyticsDatabase(replacementPath(files));
    if (this.#store.isOutdated) this.#startReplacement();
  }

  #open(): [AnalyticsStore, LogReader] {
    const store = new AnalyticsStore(this.#files.analyticsStoreFile, this.#archive);
    try {
      return [store, new LogReader(this.#files.ledgerFolder, store.cursor)];
    } catch (error) {
      store.close();
      throw error;
    }
  }

  get appliedPosition(): number {
    return this.#store.appliedPosition;
  }

  /** Applies the next batch of records. The record at `upToPosition` must be durable, and must not be applied yet. */
  applyBatch(upToPosition: number): void {
    this.#closeOnError(() =>
      this.#store.applyBatch((projection) => {
        this.#reader.readRecords(upToPosition, bounds.projectionBatchRecordsMax, (position, record, segment) =>
          projection.applyRecord(position, record, segment),
        );
        return this.#reader.cursor;
      }),
    );
  }

  get hasRowsToPrune(): boolean {
    return this.#store.retention.hasRowsToPrune;
  }

  pruneRows(): void {
    this.#closeOnError(() => this.#store.retention.pruneRows());
  }

  /** Whether sessions are not counted in their experiment yet. */
  get hasSessionsToFill(): boolean {
    return this.#store.fill.isRunning;
  }

  /** Counts a limited number of sessions that were created before their experiment. */
  fillExperiments(): void {
    this.#closeOnError(() => this.#store.fill.countSlice());
  }

  /** Executes a query. Archives no day while a replacement is built, because the archive would keep outdated figures. */
  execute<Name extends QueryName>({ name, parameter }: AggregatorQuery<Name>): QueryResult<Name> {
    const isRetention = name === 'applyRetention';
    if (isRetention && this.#replacement !== null) return this.#postponeRetention() as QueryResult<Name>;
    const store: QueryExecutors = this.#store;
    return this.#closeOnError(() => {
      const result = store[name](parameter);
      // The retention may have written a lost archive again.
      if (isRetention && this.#store.isOutdated) this.#startReplacement();
      return result;
    });
  }

  /** Returns a result after which nothing is deleted, and the retention tries again later. */
  #postponeRetention(): RetentionResult {
    const { firstRetainedDay: retainedFromDay, end: archiveEnd } = this.#archive;
    return { archived: true, retainedFromDay, isNew: false, ledgerStartPosition: 0, archiveEnd };
  }

  /** Whether a replacement of the store is being built. */
  get isReplacing(): boolean {
    return this.#replacement !== null;
  }

  /** Applies the next batch to the replacement, and puts it in place of the store once it has the same records. */
  buildReplacement(): void {
    const replacement = this.#replacement!;
    try {
      if (replacement.appliedPosition < this.appliedPosition) replacement.applyBatch(this.appliedPosition);
      else if (replacement.hasSessionsToFill) replacement.fillExperiments();
      else this.#useReplacement();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Starts to build a replacement, unless the archive lacks days that only the store has. */
  #startReplacement(): void {
    if (this.#archive.firstRetainedDay < this.#store.retention.firstRetainedDay) {
      this.#onOutdated();
      return;
    }
    this.#onRebuild('the figures of the analytics store are outdated; it remains in use meanwhile');
    const files = { ...this.#files, analyticsStoreFile: replacementPath(this.#files) };
    this.#replacement = new LedgerFollower(files, this.#onRebuild);
  }

  #useReplacement(): void {
    this.close();
    this.#replacement = null;
    replaceAnalyticsDatabase(this.#files.analyticsStoreFile, replacementPath(this.#files));
    [this.#store, this.#reader] = this.#open();
  }

  /** Closes the stores and the ledger reader. Repeated calls have no effect. */
  close(): void {
    this.#replacement?.close();
    this.#reader.close();
    this.#store.close();
  }

  /**
   * Runs `action`. If `action` throws, closes the ledger follower, and deletes a damaged analytics store. If the store was deleted, the
   * next `LedgerFollower` builds a new store from the archive and the ledger.
   */
  #closeOnError<Result>(action: () => Result): Result {
    try {
      return action();
    } catch (error) {
      this.close();
      if (isCorruptDatabaseError(error)) this.#deleteAnalyticsStore();
      throw error;
    }
  }

  /**
   * Verifies the whole counter archive, then deletes the analytics store. If the archive is damaged, throws and does not delete the store,
   * because the store then has the only copy of the archived counters.
   */
  #deleteAnalyticsStore(): void {
    for (const _ of this.#archive.readAll());
    deleteAnalyticsDatabase(this.#files.analyticsStoreFile);
  }
}

function replacementPath({ analyticsStoreFile }: DataPaths): string {
  return `${analyticsStoreFile}.rebuilt`;
}

/**
 * Returns a message about the ledger records that a rebuild cannot find, or null if no records are missing. `ledgerStartPosition` must be
 * the first position in a ledger segment.
 */
function describeMissingRecords(ledgerFolder: string, ledgerStartPosition: number): string | null {
  const firsts = parseSegmentFileNames(nodeFileSystem.listFiles(ledgerFolder));
  const [first] = firsts;
  if (first === undefined ? ledgerStartPosition === 1 : firsts.includes(ledgerStartPosition)) return null;
  return first !== undefined && first > ledgerStartPosition
    ? `ledger records ${ledgerStartPosition} to ${first - 1} are missing and not archived`
    : `ledger ends before record ${ledgerStartPosition}, the first record that is not archived`;
}

interface RebuildOptions {
  /** Paths of the analytics data. The analytics store must be closed. */
  readonly files: DataPaths;
  readonly upToPosition: number;
  readonly onProgress?: (records: number) => void;
  /** Called with a description of the missing ledger records, which the rebuilt store will not include. */
  readonly onMissingRecords: (description: string) => void;
  readonly signal?: AbortSignal;
}

/**
 * Rebuilds the analytics store from the ledger and the archive in a new file, then replaces the old file. After an interrupted rebuild, the
 * store is either the old store or the new store. The rebuild blocks the event loop for at most one batch at a time.
 */
export async function rebuildAnalyticsStore(options: RebuildOptions): Promise<RecordCounts> {
  const { files, upToPosition, onProgress, onMissingRecords, signal } = options;
  const { analyticsStoreFile } = files;
  const temporaryFile = replacementPath(files);
  deleteAnalyticsDatabase(temporaryFile);
  let totals: RecordCounts;
  try {
    const follower = new LedgerFollower({ ...files, analyticsStoreFile: temporaryFile }, onMissingRecords);
    try {
      for (let position = follower.appliedPosition; position < upToPosition; position = follower.appliedPosition) {
        follower.applyBatch(upToPosition);
        onProgress?.(follower.appliedPosition - position);
        await nextTurn();
        signal?.throwIfAborted();
      }
      totals = follower.execute({ name: 'getTotals', parameter: undefined });
    } finally {
      // Closing the follower also moves the content of SQLite's write-ahead log into the file.
      follower.close();
    }
  } catch (error) {
    deleteAnalyticsDatabase(temporaryFile);
    throw error;
  }
  replaceAnalyticsDatabase(analyticsStoreFile, temporaryFile);
  return totals;
}
