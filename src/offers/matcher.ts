import type { CancelSignal } from '../domain/cancel-signal.ts';
import type { FieldVector } from '../verticals/pocket-vector.ts';
import type { PackedOrders } from './packed-orders.ts';

/**
 * The matching port: which offers this borrower may have, in all four orders. Adapters: in the calling thread, or a pool
 * of workers that get micro-batches. Both run the same pure rules on the same compiled catalog.
 */
export interface Matcher {
  /**
   * At once where the calling thread does it, else as a promise. Null when more requests wait than the queue may hold: the
   * caller answers 503. Null too when the request was cancelled while it waited. Throws or rejects only on a bug.
   */
  match(request: MatchRequest): Ranking | null | Promise<Ranking | null>;
  /** Requests waiting or under way. */
  readonly pendingCount: number;
  /** Its worker threads that can be given borrowers now: 0 where it has none, or all of them are being replaced. */
  readonly readyThreads: number;
  close(): Promise<void>;
}

export interface MatchRequest {
  /** A version that `CatalogStore` of the same service holds. */
  readonly catalogVersion: string;
  /** Read before `match` returns, never kept. */
  readonly borrower: Readonly<FieldVector>;
  /** Compact date (YYYYMMDD, UTC) that ages are reckoned on. */
  readonly today: number;
  /** The offers of that catalog that are closed now; null: none. */
  readonly unavailable?: Int32Array | null;
  /** Removes the request from the queue once it is over; null: the request is never cancelled. */
  readonly signal?: CancelSignal | null;
}

/** The orders an answer may be sorted in (docs/contract.md#sort-orders), in the order a ranking holds them. */
export const sortOrders = ['recommended', 'lowest_apr', 'highest_amount', 'svc_revenue'] as const;
export type SortOrder = (typeof sortOrders)[number];

export interface Ranking {
  readonly catalogVersion: string;
  /** How many offers match and are open. */
  readonly total: number;
  /** Whether `orders` leave closed offers out; they do where too few of the best are open. */
  readonly availableOnly: boolean;
  /**
   * Offer indices into the compiled catalog of `catalogVersion`: for each of `sorts` the best that match, as many as the catalog's
   * tables have `places`, end to end. Closed ones stand among them unless `availableOnly`, and at least `min(total, 20)` open ones.
   */
  readonly orders: PackedOrders;
}
