import { bounds } from '../bounds.ts';
import type { AskedPayout, KnownPayout } from '../confirmations/confirmation-history.ts';
import { firstSequences } from '../events/log-format.ts';
import { CursorBeyondLog, LogReader } from '../events/log-reader.ts';
import { nodeLogFiles } from '../events/node-log-files.ts';
import type { DailyFigures, RowsPage, RowsQuery, SummaryFigures, SummaryQuery } from './analytics.ts';
import type { AnalyticsFiles } from './analytics-files.ts';
import { dropAnalyticsDatabase, isDamage, OtherStoreFormat } from './analytics-schema.ts';
import { AnalyticsStore } from './analytics-store.ts';
import type { ExperimentRow } from './experiments-reader.ts';
import type { FoldTotals } from './ledger-fold.ts';
import { SealedFigures, SealingFailed } from './sealed-figures.ts';
import type { Age } from './store-retention.ts';

/** What sealing came to, or why it failed. */
export type SealOutcome =
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
  readonly #storeFile: string;
  readonly #sealed: SealedFigures;
  readonly #store: AnalyticsStore;
  readonly #reader: LogReader;

  /**
   * `onRebuild` is told, in words, why the store has to be derived again, and what cannot be. Throws `LogDamaged`, and what
   * SQLite throws.
   */
  constructor({ ledgerFolder, sealedFolder, storeFile }: AnalyticsFiles, onRebuild: (reason: string) => void) {
    this.#storeFile = storeFile;
    this.#sealed = new SealedFigures(sealedFolder);
    let store: AnalyticsStore;
    try {
      store = new AnalyticsStore(storeFile);
    } catch (error) {
      if (!(error instanceof OtherStoreFormat || isDamage(error))) throw error;
      onRebuild(error.message);
      this.#dropStore();
      store = new AnalyticsStore(storeFile);
    }
    try {
      try {
        this.#reader = new LogReader(ledgerFolder, store.cursor);
      } catch (error) {
        if (!(error instanceof CursorBeyondLog)) throw error;
        onRebuild(error.message);
        store.close();
        this.#dropStore();
        store = new AnalyticsStore(storeFile);
        this.#reader = new LogReader(ledgerFolder, null);
      }
      store.adopt(this.#sealed);
    } catch (error) {
      store.close();
      throw error;
    }
    this.#store = store;
    if (store.cursor === null) {
      const missing = missingRecords(ledgerFolder, this.#sealed.ledgerFrom);
      if (missing !== null) onRebuild(missing);
    }
  }

  get foldedPosition(): number {
    return this.#store.foldedPosition;
  }

  /** Folds the next batch, at most up to a durable position beyond `foldedPosition`. */
  fold(upToPosition: number): void {
    this.#guard(() =>
      this.#store.foldBatch((fold) => {
        this.#reader.read(upToPosition, bounds.foldRecordsMax, (position, record) => {
          fold.fold(position, record, this.#reader.segment);
        });
        return this.#reader.cursor;
      }),
    );
  }

  /**
   * Gives up the sessions of a certain age: their daily counters are sealed, and they are gone from every answer. To be
   * called when all that was acknowledged is folded, since what those sessions' records tell later counts no more.
   */
  seal(age: Age): SealOutcome {
    return this.#guard(() => {
      const before = this.#store.keptFromDay;
      try {
        this.#store.seal(this.#sealed, age);
      } catch (error) {
        if (!(error instanceof SealingFailed)) throw error;
        return { sealed: false, reason: error.message };
      }
      const { keptFromDay } = this.#store;
      return {
        sealed: true,
        keptFromDay,
        isNew: keptFromDay > before,
        ledgerFrom: this.#store.neededFrom(this.#sealed),
      };
    });
  }

  /** Whether rows of sessions given up may be left in the store. */
  get mustPrune(): boolean {
    return this.#store.mustPrune;
  }

  /** Removes some of them. */
  prune(): void {
    this.#guard(() => this.#store.prune());
  }

  summary(query: SummaryQuery): SummaryFigures {
    return this.#guard(() => this.#store.summary(query));
  }

  knownPayouts(asked: readonly AskedPayout[]): KnownPayout[] {
    return this.#guard(() => this.#store.knownPayouts(asked));
  }

  daily(query: SummaryQuery): DailyFigures {
    return this.#guard(() => this.#store.daily(query));
  }

  rows(query: RowsQuery): RowsPage {
    return this.#guard(() => this.#store.rows(query));
  }

  totals(): FoldTotals {
    return this.#guard(() => this.#store.totals());
  }

  experiments(after: number): ExperimentRow[] {
    return this.#guard(() => this.#store.experiments(after));
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
      if (isDamage(error)) this.#dropStore();
      throw error;
    }
  }

  /** Not before all that a new one is to be derived from was seen to be whole: it may be the only other copy. */
  #dropStore(): void {
    for (const _ of this.#sealed.records());
    dropAnalyticsDatabase(this.#storeFile);
  }
}

/** What a store derived from nothing will leave out, in words, or null: the segment that holds `ledgerFrom` must be there. */
function missingRecords(ledgerFolder: string, ledgerFrom: number): string | null {
  const firsts = firstSequences(nodeLogFiles.list(ledgerFolder));
  const [first] = firsts;
  if (first === undefined ? ledgerFrom === 1 : firsts.includes(ledgerFrom)) return null;
  return first !== undefined && first > ledgerFrom
    ? `the ledger has no records ${ledgerFrom} to ${first - 1}, and no sealed figures stand for them`
    : `the ledger ends before record ${ledgerFrom}, from which on nothing is sealed`;
}
