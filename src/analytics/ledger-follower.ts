import { bounds } from '../bounds.ts';
import type { PayoutKey, PayoutStateWithLender } from '../confirmations/confirmation-history.ts';
import { segmentFirstSequences } from '../events/log-format.ts';
import { CursorBeyondLogError, LogReader } from '../events/log-reader.ts';
import { nodeLogFiles } from '../events/node-log-files.ts';
import type { DailyResult, RowsPage, RowsQuery, SummaryResult, SummaryQuery } from './analytics.ts';
import type { DataFiles } from './analytics-files.ts';
import { deleteAnalyticsDatabase, isDatabaseCorrupt, StoreVersionMismatch } from './analytics-schema.ts';
import { AnalyticsStore } from './analytics-store.ts';
import type { ExperimentRow } from './experiments-reader.ts';
import type { ProjectionTotals } from './ledger-fold.ts';
import { CounterArchive, ArchiveWriteFailed } from './sealed-figures.ts';
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
