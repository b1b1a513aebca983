import type { PayoutKey, PayoutStateWithLender } from '../confirmations/payout-state.ts';
import type { DataFiles } from '../files/data-files.ts';
import { subIdByteLength } from '../ids/sub-id.ts';
import type { CohortQuery, DailyResult, RowsPage, RowsQuery, SummaryQuery, SummaryResult } from './analytics.ts';
import type { RetentionOutcome } from './ledger-follower.ts';
import type { ProjectionTotals } from './ledger-projection.ts';
import type { ExperimentRow } from './session-reader.ts';
import type { RetentionRequest } from './store-retention.ts';

/** What the aggregator thread is started with. */
export interface AggregatorWorkerData {
  readonly files: DataFiles;
  /** Of a `SharedProgress`. */
  readonly progress: SharedArrayBuffer;
}

/** What is asked; with its position, which the figures must have reached before they answer. */
export type AggregatorQuery =
  | { readonly kind: 'summary' | 'daily'; readonly query: PackedQuery<SummaryQuery> }
  | { readonly kind: 'rows'; readonly query: PackedQuery<RowsQuery> }
  | { readonly kind: 'payouts'; readonly asked: readonly PayoutKey[] }
  | { readonly kind: 'totals' }
  | { readonly kind: 'experiments'; readonly after: number }
  | { readonly kind: 'seal'; readonly age: RetentionRequest };

export interface AggregatorResults {
  readonly summary: SummaryResult;
  readonly payouts: readonly PayoutStateWithLender[];
  readonly daily: DailyResult;
  readonly rows: RowsPage;
  readonly totals: ProjectionTotals;
  readonly experiments: readonly ExperimentRow[];
  readonly seal: RetentionOutcome;
}

export type MessageToAggregator =
  /** The ledger went on while the aggregator slept. */
  | { readonly kind: 'wake' }
  /** `position` is durable already. */
  | { readonly kind: 'ask'; readonly id: number; readonly position: number; readonly question: AggregatorQuery }
  | { readonly kind: 'close' };

export type MessageFromAggregator =
  /** The store is open: questions are welcome. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'rebuild'; readonly reason: string }
  /** A store that had to be rebuilt has all of what was durable in the ledger. */
  | { readonly kind: 'rebuilt' }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: AggregatorResults[keyof AggregatorResults] };

/** A query with its ids in one block of bytes: hundreds of small arrays are slow to hand over. */
type PackedQuery<Query extends CohortQuery> = Omit<Query, 'subs'> & { readonly subs: Uint8Array | null };

export function packQuery<Query extends CohortQuery>(query: Query): PackedQuery<Query> {
  if (query.subs === null) return { ...query, subs: null };
  const packed = new Uint8Array(query.subs.length * subIdByteLength);
  query.subs.forEach((sub, index) => {
    packed.set(sub, index * subIdByteLength);
  });
  return { ...query, subs: packed };
}

export function unpackQuery<Rest extends object>(
  query: Rest & { readonly subs: Uint8Array | null },
): Omit<Rest, 'subs'> & Pick<CohortQuery, 'subs'> {
  if (query.subs === null) return { ...query, subs: null };
  const subs: Uint8Array[] = [];
  for (let start = 0; start < query.subs.length; start += subIdByteLength) {
    subs.push(query.subs.subarray(start, start + subIdByteLength));
  }
  return { ...query, subs };
}

/** Reads the thread's start data. Throws when it was started by anything but `startThreadAnalytics`. */
export function parseWorkerData(value: unknown): AggregatorWorkerData {
  const { files, progress } = (value ?? {}) as Partial<AggregatorWorkerData>;
  const paths = [files?.ledgerFolder, files?.archiveFolder, files?.analyticsStoreFile];
  if (
    files === undefined ||
    !paths.every((path) => typeof path === 'string') ||
    !(progress instanceof SharedArrayBuffer)
  ) {
    throw new TypeError('the aggregator thread needs files and progress');
  }
  return { files, progress };
}
