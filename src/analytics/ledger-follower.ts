import { renameSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import type { PayoutKey, PayoutStateWithLender } from '../confirmations/payout-state.ts';
import { nodeLogFiles } from '../event-log/log-files.ts';
import { segmentFirstSequences } from '../event-log/log-format.ts';
import { CursorBeyondLogError, LogReader } from '../event-log/log-reader.ts';
import type { DataFiles } from '../files/data-files.ts';
import type { DailyResult, RowsPage, RowsQuery, SummaryQuery, SummaryResult } from './analytics.ts';
import { deleteAnalyticsDatabase, isDatabaseCorrupt, StoreVersionMismatch } from './analytics-database.ts';
import { AnalyticsStore } from './analytics-store.ts';
import { ArchiveWriteFailed, CounterArchive } from './counter-archive.ts';
import type { ProjectionTotals } from './ledger-projection.ts';
import type { ExperimentRow } from './session-reader.ts';
import type { RetentionRequest } from './store-retention.ts';

/** What sealing came to, or why it failed. */
export type RetentionOutcome =
  | {
      readonly sealed: true;
      /** Sessions are kept from this day on; new, if they were kept from an earlier one before. */
      readonly keptFromDay: number;
      readonly isNew: boolean;
      /** What the ledger holds before this position is needed no more. */
      readonly ledgerFrom: number;
    }
  | { readonly sealed: false; readonly reason: string };

/**
 * Follows the ledger's files into the analytics store, each record exactly once, a batch at a time. It goes on from where
 * the store stands; a store that does not fit the ledger, or cannot be read, is derived again from what was sealed and the
 * whole ledger.
 *
 * Any error ends it: it closes itself, and another goes on from what was committed.
 */
export class LedgerFollower {
  readonly #analyticsStoreFile: string;
  readonly #archive: CounterArchive;
  readonly #store: AnalyticsStore;
  readonly #reader: LogReader;

  /**
   * `onRebuild` is told, in words, why the store has to be derived again, and what cannot be. Throws `LogDamagedError`, and what
   * SQLite throws.
   */
  constructor({ ledgerFolder, archiveFolder, analyticsStoreFile }: DataFiles, onRebuild: (reason: string) => void) {
    this.#analyticsStoreFile = analyticsStoreFile;
    this.#archive = new CounterArchive(archiveFolder);
    let store: AnalyticsStore;
    try {
      store = new AnalyticsStore(analyticsStoreFile);
    } catch (error) {
      if (!(error instanceof StoreVersionMismatch || isDatabaseCorrupt(error))) throw error;
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

  /** Folds the next batch, at most up to a durable position beyond `projectedPosition`. */
  applyBatch(upToPosition: number): void {
    this.#closeOnError(() =>
      this.#store.applyBatch((fold) => {
        this.#reader.read(upToPosition, bounds.projectionBatchRecordsMax, (position, record) => {
          fold.apply(position, record, this.#reader.segment);
        });
        return this.#reader.cursor;
      }),
    );
  }

  /**
   * Gives up the sessions of a certain age: their daily counters are sealed, and they are gone from every answer. To be
   * called when all that was acknowledged is folded, since what those sessions' records tell later counts no more.
   */
  applyRetention(age: RetentionRequest): RetentionOutcome {
    return this.#closeOnError(() => {
      const before = this.#store.retainedFromDay;
      try {
        this.#store.applyRetention(this.#archive, age);
      } catch (error) {
        if (!(error instanceof ArchiveWriteFailed)) throw error;
        return { sealed: false, reason: error.message };
      }
      const { retainedFromDay } = this.#store;
      return {
        sealed: true,
        keptFromDay: retainedFromDay,
        isNew: retainedFromDay > before,
        ledgerFrom: this.#store.firstNeededPosition(this.#archive),
      };
    });
  }

  /** Whether rows of sessions given up may be left in the store. */
  get hasRowsToPrune(): boolean {
    return this.#store.hasRowsToPrune;
  }

  /** Removes some of them. */
  pruneRows(): void {
    this.#closeOnError(() => this.#store.pruneRows());
  }

  getSummary(query: SummaryQuery): SummaryResult {
    return this.#closeOnError(() => this.#store.getSummary(query));
  }

  findPayoutStates(asked: readonly PayoutKey[]): PayoutStateWithLender[] {
    return this.#closeOnError(() => this.#store.findPayoutStates(asked));
  }

  listDays(query: SummaryQuery): DailyResult {
    return this.#closeOnError(() => this.#store.listDays(query));
  }

  listRows(query: RowsQuery): RowsPage {
    return this.#closeOnError(() => this.#store.listRows(query));
  }

  getTotals(): ProjectionTotals {
    return this.#closeOnError(() => this.#store.getTotals());
  }

  listExperiments(after: number): ExperimentRow[] {
    return this.#closeOnError(() => this.#store.listExperiments(after));
  }

  /** Idempotent. */
  close(): void {
    this.#reader.close();
    this.#store.close();
  }

  /** A store found damaged is removed, so that the next follower derives it again. */
  #closeOnError<Result>(use: () => Result): Result {
    try {
      return use();
    } catch (error) {
      this.close();
      if (isDatabaseCorrupt(error)) this.#deleteStore();
      throw error;
    }
  }

  /** Not before all that a new one is to be derived from was seen to be whole: it may be the only other copy. */
  #deleteStore(): void {
    for (const _ of this.#archive.readAll());
    deleteAnalyticsDatabase(this.#analyticsStoreFile);
  }
}

/** What a store derived from nothing will leave out, in words, or null: the segment that holds `ledgerFromPosition` must be there. */
function describeMissingRecords(ledgerFolder: string, ledgerFrom: number): string | null {
  const firsts = segmentFirstSequences(nodeLogFiles.listNames(ledgerFolder));
  const [first] = firsts;
  if (first === undefined ? ledgerFrom === 1 : firsts.includes(ledgerFrom)) return null;
  return first !== undefined && first > ledgerFrom
    ? `the ledger has no records ${ledgerFrom} to ${first - 1}, and no sealed figures stand for them`
    : `the ledger ends before record ${ledgerFrom}, from which on nothing is sealed`;
}

interface RebuildOptions {
  /** Nobody may have the store open that is to be replaced, if there is one. */
  readonly files: DataFiles;
  /** Position of the last record of the ledger. */
  readonly upToPosition: number;
  /** Told how many more records were folded, after each batch. */
  readonly onProgress?: (records: number) => void;
  /** Told, in words, what the figures will leave out. */
  readonly onMissingRecords: (what: string) => void;
  /** Gives up, and rejects with its reason. */
  readonly signal?: AbortSignal;
}

/**
 * Derives the analytics store from the ledger's records and the sealed figures alone, beside the one there is, and then puts it in its place. An
 * end at any moment leaves the old store, the new one, or none, which the service's next start derives by itself. It gives way
 * to the event loop between batches.
 */
export async function rebuildAnalyticsStore(options: RebuildOptions): Promise<ProjectionTotals> {
  const { files, upToPosition, onProgress, onMissingRecords, signal } = options;
  const { analyticsStoreFile } = files;
  const fresh = `${analyticsStoreFile}.rebuilt`;
  deleteAnalyticsDatabase(fresh);
  let totals: ProjectionTotals;
  try {
    const follower = new LedgerFollower({ ...files, analyticsStoreFile: fresh }, onMissingRecords);
    try {
      for (let folded = follower.projectedPosition; folded < upToPosition; folded = follower.projectedPosition) {
        follower.applyBatch(upToPosition);
        onProgress?.(follower.projectedPosition - folded);
        await nextTurn();
        signal?.throwIfAborted();
      }
      totals = follower.getTotals();
    } finally {
      // What SQLite keeps beside the file goes into it and away when it is closed.
      follower.close();
    }
  } catch (fault) {
    deleteAnalyticsDatabase(fresh);
    throw fault;
  }
  deleteAnalyticsDatabase(analyticsStoreFile);
  renameSync(fresh, analyticsStoreFile);
  return totals;
}
