import type { DataPaths } from '../files/data-paths.ts';
import { subIdByteLength } from '../ids/sub-id.ts';
import type { CohortQuery } from './analytics.ts';
import type { AnalyticsStore } from './analytics-store.ts';

export interface AggregatorWorkerData {
  readonly files: DataPaths;
  /** Shared memory of the `AggregatorProgress`, which the main thread also uses. */
  readonly progress: SharedArrayBuffer;
}

/** Methods of the store that the aggregator thread executes for the main thread. */
export type QueryName =
  | 'getSummary'
  | 'listDailyAnalytics'
  | 'listSessions'
  | 'listOffers'
  | 'listOfferTotals'
  | 'listTags'
  | 'listNumberedTags'
  | 'findExperiment'
  | 'checkDefinition'
  | 'listExperiments'
  | 'getExperimentResults'
  | 'countExperiments'
  | 'listHashExperiments'
  | 'listExperimentUnits'
  | 'findPayoutStates'
  | 'getTotals'
  | 'applyRetention';
type QueryParameters = { readonly [Name in QueryName]: Parameters<AnalyticsStore[Name]>[0] };
export type QueryResult<Name extends QueryName> = ReturnType<AnalyticsStore[Name]>;

/** These methods in a form in which TypeScript relates the parameter and the result of a query to a generic name. */
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
  /** The figures of the store are outdated, and the store cannot be rebuilt (`LedgerFollower`). */
  | { readonly kind: 'outdated' }
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
