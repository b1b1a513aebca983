import type { PayoutKey, PayoutStateWithLender } from '../confirmations/payout-state.ts';
import type { LogEnd } from '../files/data-inventory.ts';
import type { DataPaths } from '../files/data-paths.ts';
import { subIdByteLength } from '../ids/sub-id.ts';
import type {
  CohortQuery,
  DailyAnalyticsResult,
  SessionRowsPage,
  SessionRowsQuery,
  SummaryQuery,
  SummaryResult,
  TagsPage,
  TagsQuery,
} from './analytics.ts';
import type { RecordCounts } from './projection-state.ts';
import type { NumberedTag } from './tags-reader.ts';

export interface AggregatorWorkerData {
  readonly files: DataPaths;
  /** Shared memory of the `AggregatorProgress`, which the main thread also uses. */
  readonly progress: SharedArrayBuffer;
}

/** Queries of the main thread that the aggregator thread executes. */
export interface AggregatorQueries {
  getSummary(query: SummaryQuery): SummaryResult;
  listDailyAnalytics(query: SummaryQuery): DailyAnalyticsResult;
  listSessions(query: SessionRowsQuery): SessionRowsPage;
  listTags(query: TagsQuery): TagsPage;
  findPayoutStates(keys: readonly PayoutKey[]): readonly PayoutStateWithLender[];
  /** Returns the next tags of all tenants, at most `bounds.numberedTagsPerPage` tags; an empty list after the last tag. */
  listNumberedTags(afterNumber: number): readonly NumberedTag[];
  /** Returns the totals of all applied records. */
  getTotals(): RecordCounts;
  /**
   * Archives the daily counters of days that are older than the retention period. Call this method only after all acknowledged records have
   * been applied, because records of sessions from archived days are ignored afterwards.
   */
  applyRetention(request: RetentionRequest): RetentionResult;
}

export interface RetentionRequest {
  /** Day number of the current day (UTC). */
  readonly today: number;
  /** Number of days before `today` for which sessions are retained. */
  readonly retentionDays: number;
  /** Unix time of the request in milliseconds; stored in the archive. */
  readonly wallMs: number;
}

/** If the archive cannot be written, `archived` is false, and `reason` is the error message. */
export type RetentionResult =
  | {
      readonly archived: true;
      /** First day (day number) whose sessions are retained. */
      readonly retainedFromDay: number;
      /** Whether this call increased the first retained day. */
      readonly isNew: boolean;
      /** Ledger records before this position can be deleted, because a rebuild of the store does not need these records. */
      readonly ledgerStartPosition: number;
      /** End of the archive after this call. */
      readonly archiveEnd: LogEnd;
    }
  | { readonly archived: false; readonly reason: string };

export type QueryName = keyof AggregatorQueries;
type QueryParameters = { readonly [Name in QueryName]: Parameters<AggregatorQueries[Name]>[0] };
export type QueryResult<Name extends QueryName> = ReturnType<AggregatorQueries[Name]>;

/** `AggregatorQueries` in a form in which TypeScript relates the parameter and the result of a query to a generic name. */
export type QueryExecutors = {
  readonly [Name in QueryName]: (parameter: QueryParameters[Name]) => QueryResult<Name>;
};

/** A query with its parameter; undefined for a query without a parameter. */
export type AggregatorQuery<Name extends QueryName = QueryName> = {
  [Each in Name]: { readonly name: Each; readonly parameter: QueryParameters[Each] };
}[Name];

export type MessageToAggregator =
  /** The main thread sends `wake` when the ledger grows while the aggregator thread sleeps. */
  | { readonly kind: 'wake' }
  /** The result of the query must include every ledger record up to `position`. The record at `position` is durable. */
  | { readonly kind: 'query'; readonly id: number; readonly position: number; readonly query: AggregatorQuery }
  | { readonly kind: 'close' };

export type MessageFromAggregator =
  /** The store is open; the aggregator accepts queries. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'rebuild'; readonly reason: string }
  /** The rebuilt store includes every durable record of the ledger. */
  | { readonly kind: 'rebuilt' }
  | { readonly kind: 'result'; readonly id: number; readonly result: QueryResult<QueryName> };

/**
 * Copies the listed sub_ids into one array, because a message with 500 arrays takes 300 µs and a message with one array 12 µs.
 * `SessionReader` reads the single sub_ids from this array. Throws a TypeError if the query has no filter.
 */
export function packSubIds<Parameter extends CohortQuery>(query: Parameter): Parameter {
  const { referrerTag, subs } = query;
  if (referrerTag === null && subs === null) throw new TypeError('query needs referrerTag, subs or both');
  if (subs === null) return query;
  const packed = new Uint8Array(subs.length * subIdByteLength);
  subs.forEach((sub, index) => {
    packed.set(sub, index * subIdByteLength);
  });
  return { ...query, subs: [packed] };
}
