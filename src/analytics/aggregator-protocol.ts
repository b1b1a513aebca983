import type { AskedPayout, KnownPayout } from '../confirmations/confirmation-history.ts';
import { subIdBytes } from '../sessions/sub-id.ts';
import type { CohortQuery, DailyFigures, RowsPage, RowsQuery, SummaryFigures, SummaryQuery } from './analytics.ts';
import type { AnalyticsFiles } from './analytics-files.ts';
import type { ExperimentRow } from './experiments-reader.ts';
import type { FoldTotals } from './ledger-fold.ts';
import type { SealOutcome } from './ledger-follower.ts';
import type { Age } from './store-retention.ts';

/** What the aggregator thread is started with. */
export interface AggregatorSetup {
  readonly files: AnalyticsFiles;
  /** Of a `SharedProgress`. */
  readonly progress: SharedArrayBuffer;
}

/** What is asked; with its position, which the figures must have reached before they answer. */
export type Question =
  | { readonly kind: 'summary' | 'daily'; readonly query: Packed<SummaryQuery> }
  | { readonly kind: 'rows'; readonly query: Packed<RowsQuery> }
  | { readonly kind: 'payouts'; readonly asked: readonly AskedPayout[] }
  | { readonly kind: 'totals' }
  | { readonly kind: 'experiments'; readonly after: number }
  | { readonly kind: 'seal'; readonly age: Age };

export interface Answers {
  readonly summary: SummaryFigures;
  readonly payouts: readonly KnownPayout[];
  readonly daily: DailyFigures;
  readonly rows: RowsPage;
  readonly totals: FoldTotals;
  readonly experiments: readonly ExperimentRow[];
  readonly seal: SealOutcome;
}

export type ToAggregator =
  /** The ledger went on while the aggregator slept. */
  | { readonly kind: 'wake' }
  /** `position` is durable already. */
  | { readonly kind: 'ask'; readonly id: number; readonly position: number; readonly question: Question }
  | { readonly kind: 'close' };

export type FromAggregator =
  /** The store is open: questions are welcome. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'rebuild'; readonly reason: string }
  /** A store that had to be rebuilt has all of what was durable in the ledger. */
  | { readonly kind: 'rebuilt' }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: Answers[keyof Answers] };

/** A query with its ids in one block of bytes: hundreds of small arrays are slow to hand over. */
export type Packed<Query extends CohortQuery> = Omit<Query, 'subs'> & { readonly subs: Uint8Array | null };

export function packQuery<Query extends CohortQuery>(query: Query): Packed<Query> {
  if (query.subs === null) return { ...query, subs: null };
  const packed = new Uint8Array(query.subs.length * subIdBytes);
  query.subs.forEach((sub, index) => {
    packed.set(sub, index * subIdBytes);
  });
  return { ...query, subs: packed };
}

export function unpackQuery<Rest extends object>(
  query: Rest & { readonly subs: Uint8Array | null },
): Omit<Rest, 'subs'> & Pick<CohortQuery, 'subs'> {
  if (query.subs === null) return { ...query, subs: null };
  const subs: Uint8Array[] = [];
  for (let start = 0; start < query.subs.length; start += subIdBytes) {
    subs.push(query.subs.subarray(start, start + subIdBytes));
  }
  return { ...query, subs };
}

/** Reads the thread's start data. Throws when it was started by anything but `startThreadAnalytics`. */
export function parseSetup(value: unknown): AggregatorSetup {
  const { files, progress } = (value ?? {}) as Partial<AggregatorSetup>;
  const paths = [files?.ledgerFolder, files?.sealedFolder, files?.storeFile];
  if (
    files === undefined ||
    !paths.every((path) => typeof path === 'string') ||
    !(progress instanceof SharedArrayBuffer)
  ) {
    throw new TypeError('the aggregator thread needs files and progress');
  }
  return { files, progress };
}
