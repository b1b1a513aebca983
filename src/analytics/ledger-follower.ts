import { bounds } from '../bounds.ts';
import type { AskedPayout, KnownPayout } from '../confirmations/confirmation-history.ts';
import { CursorBeyondLog, LogReader } from '../events/log-reader.ts';
import type { DayFigures, RowsPage, RowsQuery, SummaryFigures, SummaryQuery } from './analytics.ts';
import { dropAnalyticsDatabase, isDamage, OtherStoreFormat } from './analytics-schema.ts';
import { AnalyticsStore } from './analytics-store.ts';
import type { FoldTotals } from './ledger-fold.ts';

/**
 * Follows the ledger's files into the analytics store, each record exactly once, a batch at a time. It goes on from where
 * the store stands; a store that does not fit the ledger, or cannot be read, is derived again from the ledger's start.
 *
 * Any error ends it: it closes itself, and another goes on from what was committed.
 */
export class LedgerFollower {
  readonly #storeFile: string;
  readonly #store: AnalyticsStore;
  readonly #reader: LogReader;

  /** `onRebuild` is told, in words, why the store has to be derived again. */
  constructor(ledgerFolder: string, storeFile: string, onRebuild: (reason: string) => void) {
    this.#storeFile = storeFile;
    let store = openOrReplace(storeFile, onRebuild);
    try {
      this.#reader = new LogReader(ledgerFolder, store.cursor);
    } catch (error) {
      store.close();
      if (!(error instanceof CursorBeyondLog)) throw error;
      onRebuild(error.message);
      dropAnalyticsDatabase(storeFile);
      store = new AnalyticsStore(storeFile);
      this.#reader = new LogReader(ledgerFolder, null);
    }
    this.#store = store;
  }

  get foldedPosition(): number {
    return this.#store.foldedPosition;
  }

  /** Folds the next batch, at most up to a durable position beyond `foldedPosition`. */
  fold(upToPosition: number): void {
    this.#guard(() =>
      this.#store.foldBatch((fold) => {
        this.#reader.read(upToPosition, bounds.foldRecordsMax, (position, record) => fold.fold(position, record));
        return this.#reader.cursor;
      }),
    );
  }

  summary(query: SummaryQuery): SummaryFigures {
    return this.#guard(() => this.#store.summary(query));
  }

  knownPayouts(asked: readonly AskedPayout[]): KnownPayout[] {
    return this.#guard(() => this.#store.knownPayouts(asked));
  }

  daily(query: SummaryQuery): DayFigures[] {
    return this.#guard(() => this.#store.daily(query));
  }

  rows(query: RowsQuery): RowsPage {
    return this.#guard(() => this.#store.rows(query));
  }

  totals(): FoldTotals {
    return this.#guard(() => this.#store.totals());
  }

  /** Idempotent. */
  close(): void {
    this.#reader.close();
    this.#store.close();
  }

  /** A store found damaged is removed, so that the next follower derives it again. */
  #guard<Result>(use: () => Result): Result {
    try {
      return use();
    } catch (error) {
      this.close();
      if (isDamage(error)) dropAnalyticsDatabase(this.#storeFile);
      throw error;
    }
  }
}

function openOrReplace(storeFile: string, onRebuild: (reason: string) => void): AnalyticsStore {
  try {
    return new AnalyticsStore(storeFile);
  } catch (error) {
    if (!(error instanceof OtherStoreFormat || isDamage(error))) throw error;
    onRebuild(error.message);
    dropAnalyticsDatabase(storeFile);
    return new AnalyticsStore(storeFile);
  }
}
