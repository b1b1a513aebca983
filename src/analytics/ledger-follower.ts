import { bounds } from '../bounds.ts';
import type { AskedPayout, KnownPayout } from '../confirmations/confirmation-history.ts';
import { firstSequences } from '../events/log-format.ts';
import { CursorBeyondLog, LogReader } from '../events/log-reader.ts';
import { nodeLogFiles } from '../events/node-log-files.ts';
import type { DayFigures, RowsPage, RowsQuery, SummaryFigures, SummaryQuery } from './analytics.ts';
import type { AnalyticsFiles } from './analytics-files.ts';
import { dropAnalyticsDatabase, isDamage, OtherStoreFormat } from './analytics-schema.ts';
import { AnalyticsStore } from './analytics-store.ts';
import type { FoldTotals } from './ledger-fold.ts';
import { SealedFigures, SealingFailed } from './sealed-figures.ts';

/** What sealing came to: how far the ledger may be dropped, and from which day on sessions are kept; or why it failed. */
export type SealOutcome =
  | { readonly sealed: true; readonly keptFromDay: number; readonly ledgerFrom: number }
  | { readonly sealed: false; readonly reason: string };

/**
 * Follows the ledger's files into the analytics store, each record exactly once, a batch at a time. It goes on from where
 * the store stands; a store that does not fit the ledger, or cannot be read, is derived again from what was sealed and the
 * whole ledger.
 *
 * Any error ends it: it closes itself, and another goes on from what was committed.
 */
export class LedgerFollower {
  readonly #storeFile: string;
  readonly #sealed: SealedFigures;
  readonly #store: AnalyticsStore;
  readonly #reader: LogReader;

  /** `onRebuild` is told, in words, why the store has to be derived again, and what cannot be. */
  constructor({ ledgerFolder, sealedFolder, storeFile }: AnalyticsFiles, onRebuild: (reason: string) => void) {
    this.#storeFile = storeFile;
    this.#sealed = new SealedFigures(sealedFolder);
    let store = openOrReplace(storeFile, onRebuild);
    try {
      try {
        this.#reader = new LogReader(ledgerFolder, store.cursor);
      } catch (error) {
        if (!(error instanceof CursorBeyondLog)) throw error;
        onRebuild(error.message);
        store.close();
        dropAnalyticsDatabase(storeFile);
        store = new AnalyticsStore(storeFile);
        this.#reader = new LogReader(ledgerFolder, null);
      }
      store.adopt(this.#sealed);
    } catch (error) {
      store.close();
      throw error;
    }
    this.#store = store;
    if (store.cursor !== null) return;
    const [first = 1] = firstSequences(nodeLogFiles.list(ledgerFolder));
    const { ledgerFrom } = this.#sealed;
    if (first > ledgerFrom)
      onRebuild(`the ledger has no records ${ledgerFrom} to ${first - 1}, and no sealed figures stand for them`);
  }

  get foldedPosition(): number {
    return this.#store.foldedPosition;
  }

  /** Folds the next batch, at most up to a durable position beyond `foldedPosition`. */
  fold(upToPosition: number): void {
    this.#guard(() =>
      this.#store.foldBatch((fold) => {
        this.#reader.read(upToPosition, bounds.foldRecordsMax, (position, record) => {
          fold.segment = this.#reader.segment;
          fold.fold(position, record);
        });
        return this.#reader.cursor;
      }),
    );
  }

  /** The first day (day number) whose sessions are kept; 0 when all are. */
  get keptFromDay(): number {
    return this.#store.keptFromDay;
  }

  /**
   * Gives up the sessions created before a day: their daily counters are sealed, and they are gone from every answer. To be
   * called when all that was acknowledged is folded, since what those sessions' records tell later counts no more.
   */
  seal(keptFromDay: number, wallMs: number): SealOutcome {
    return this.#guard(() => {
      try {
        this.#store.seal(this.#sealed, keptFromDay, wallMs);
      } catch (error) {
        if (!(error instanceof SealingFailed)) throw error;
        return { sealed: false, reason: error.message };
      }
      return { sealed: true, keptFromDay: this.#store.keptFromDay, ledgerFrom: this.#sealed.ledgerFrom };
    });
  }

  /** Whether rows of sessions given up may be left in the store. */
  get mustPrune(): boolean {
    return this.#store.mustPrune;
  }

  /** Removes some of them: a few milliseconds' work. */
  prune(): void {
    this.#guard(() => this.#store.prune());
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
