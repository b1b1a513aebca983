import { renameSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import { nodeLogFiles } from '../event-log/log-files.ts';
import { segmentFirstSequences } from '../event-log/log-format.ts';
import { CursorBeyondLogError, LogReader } from '../event-log/log-reader.ts';
import type { DataFiles } from '../files/data-files.ts';
import type { Query, QueryMethods, QueryResults, StoreQueryName } from './aggregator-protocol.ts';
import { deleteAnalyticsDatabase, isDatabaseCorrupt, StoreVersionMismatchError } from './analytics-database.ts';
import { AnalyticsStore } from './analytics-store.ts';
import { ArchiveWriteError, CounterArchive } from './counter-archive.ts';
import type { ProjectionTotals } from './projection-state.ts';
import type { RetentionRequest } from './store-retention.ts';

/** `archived` is false when the operating system refused the write, with the reason. */
export type RetentionOutcome =
  | {
      readonly archived: true;
      /** First day (day number) with retained sessions. */
      readonly retainedFromDay: number;
      /** Whether this call deleted sessions. */
      readonly isNew: boolean;
      /** Ledger records before this position are no longer needed. */
      readonly ledgerFromPosition: number;
    }
  | { readonly archived: false; readonly reason: string };

/**
 * Applies the ledger's files to the analytics store, each record exactly once, in batches, starting after the store's cursor.
 * A store that does not match the ledger or cannot be read is rebuilt from the archive and the whole ledger.
 *
 * Every error except a failed archive write closes the follower. A new follower continues from the last committed batch.
 */
export class LedgerFollower {
  readonly #analyticsStoreFile: string;
  readonly #archive: CounterArchive;
  readonly #store: AnalyticsStore;
  readonly #reader: LogReader;

  /**
   * Opens the store, or starts to rebuild it. Throws `LogDamagedError`, and errors of SQLite.
   *
   * @param onRebuild called with the reason for a rebuild, and with a description of records that a rebuild cannot restore
   */
  constructor({ ledgerFolder, archiveFolder, analyticsStoreFile }: DataFiles, onRebuild: (reason: string) => void) {
    this.#analyticsStoreFile = analyticsStoreFile;
    this.#archive = new CounterArchive(archiveFolder);
    let store: AnalyticsStore;
    try {
      store = new AnalyticsStore(analyticsStoreFile);
    } catch (error) {
      if (!(error instanceof StoreVersionMismatchError || isDatabaseCorrupt(error))) throw error;
      onRebuild(error.message);
      this.#deleteStore();
      store = new AnalyticsStore(analyticsStoreFile);
    }
    try {
      try {
        this.#reader = new LogReader(ledgerFolder, store.cursor);
      } catch (error) {
        if (!(error instanceof CursorBeyondLogError)) throw error;
        onRebuild(error.message);
        store.close();
        this.#deleteStore();
        store = new AnalyticsStore(analyticsStoreFile);
        this.#reader = new LogReader(ledgerFolder, null);
      }
      store.restoreArchive(this.#archive);
    } catch (error) {
      store.close();
      throw error;
    }
    this.#store = store;
    if (store.cursor === null) {
      const missing = describeMissingRecords(ledgerFolder, this.#archive.ledgerFromPosition);
      if (missing !== null) onRebuild(missing);
    }
  }

  get projectedPosition(): number {
    return this.#store.projectedPosition;
  }

  /** Applies the next batch, at most up to a position, which must be durable and beyond `projectedPosition`. */
  applyBatch(upToPosition: number): void {
    this.#closeOnError(() =>
      this.#store.applyBatch((projection) => {
        this.#reader.read(upToPosition, bounds.projectionBatchRecordsMax, (position, record) => {
          projection.apply(position, record, this.#reader.segment);
        });
        return this.#reader.cursor;
      }),
    );
  }

  /**
   * Archives the daily counters of sessions older than the retention and removes these sessions from all results. Call it after
   * every acknowledged record has been applied: later records of deleted sessions are ignored.
   */
  applyRetention(request: RetentionRequest): RetentionOutcome {
    return this.#closeOnError(() => {
      const previousDay = this.#store.retainedFromDay;
      try {
        this.#store.applyRetention(this.#archive, request);
      } catch (error) {
        if (!(error instanceof ArchiveWriteError)) throw error;
        return { archived: false, reason: error.message };
      }
      const { retainedFromDay } = this.#store;
      return {
        archived: true,
        retainedFromDay,
        isNew: retainedFromDay > previousDay,
        ledgerFromPosition: this.#store.firstNeededPosition(this.#archive),
      };
    });
  }

  /** Whether the store may contain rows of deleted sessions. */
  get hasRowsToPrune(): boolean {
    return this.#store.hasRowsToPrune;
  }

  /** Deletes some rows of deleted sessions. */
  pruneRows(): void {
    this.#closeOnError(() => this.#store.pruneRows());
  }

  execute<Name extends StoreQueryName>({ name, parameter }: Query<Name>): QueryResults[Name] {
    const store: QueryMethods<StoreQueryName> = this.#store;
    return this.#closeOnError(() => store[name](parameter));
  }

  /** Idempotent. */
  close(): void {
    this.#reader.close();
    this.#store.close();
  }

  /** Deletes a damaged store, so that the next follower rebuilds it. */
  #closeOnError<Result>(action: () => Result): Result {
    try {
      return action();
    } catch (error) {
      this.close();
      if (isDatabaseCorrupt(error)) this.#deleteStore();
      throw error;
    }
  }

  /** Reads the whole archive first: if the archive is damaged, the store is the only other copy of its counters. */
  #deleteStore(): void {
    for (const _ of this.#archive.readAll());
    deleteAnalyticsDatabase(this.#analyticsStoreFile);
  }
}

/** Describes the records that a rebuild would miss, or returns null. A ledger segment must start at `ledgerFromPosition`. */
function describeMissingRecords(ledgerFolder: string, ledgerFromPosition: number): string | null {
  const firsts = segmentFirstSequences(nodeLogFiles.listNames(ledgerFolder));
  const [first] = firsts;
  if (first === undefined ? ledgerFromPosition === 1 : firsts.includes(ledgerFromPosition)) return null;
  return first !== undefined && first > ledgerFromPosition
    ? `ledger records ${ledgerFromPosition} to ${first - 1} are missing and not archived`
    : `ledger ends before record ${ledgerFromPosition}, the first record that is not archived`;
}

interface RebuildOptions {
  /** The store to replace, if there is one, must not be open. */
  readonly files: DataFiles;
  /** Position of the last record of the ledger. */
  readonly upToPosition: number;
  /** Called after each batch with the number of records in it. */
  readonly onProgress?: (records: number) => void;
  /** Called with a description of records that the rebuilt figures will not include. */
  readonly onMissingRecords: (description: string) => void;
  /** Cancels the rebuild, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/**
 * Rebuilds the analytics store from the ledger and the archive in a new file, then replaces the old file. An interruption at
 * any moment leaves the old store, the new one, or none; without a store, the next start of the service rebuilds it. Yields to
 * the event loop between batches.
 */
export async function rebuildAnalyticsStore(options: RebuildOptions): Promise<ProjectionTotals> {
  const { files, upToPosition, onProgress, onMissingRecords, signal } = options;
  const { analyticsStoreFile } = files;
  const temporaryFile = `${analyticsStoreFile}.rebuilt`;
  deleteAnalyticsDatabase(temporaryFile);
  let totals: ProjectionTotals;
  try {
    const follower = new LedgerFollower({ ...files, analyticsStoreFile: temporaryFile }, onMissingRecords);
    try {
      for (let position = follower.projectedPosition; position < upToPosition; position = follower.projectedPosition) {
        follower.applyBatch(upToPosition);
        onProgress?.(follower.projectedPosition - position);
        await nextTurn();
        signal?.throwIfAborted();
      }
      totals = follower.execute({ name: 'getTotals', parameter: undefined });
    } finally {
      // Also merges SQLite's write-ahead log into the file and removes it.
      follower.close();
    }
  } catch (error) {
    deleteAnalyticsDatabase(temporaryFile);
    throw error;
  }
  deleteAnalyticsDatabase(analyticsStoreFile);
  renameSync(temporaryFile, analyticsStoreFile);
  return totals;
}
