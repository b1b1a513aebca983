import type { CancelSignal } from '../domain/async.ts';
import type { FieldVector } from '../verticals/field-vector.ts';

/**
 * The orders of a ranking: 16-bit offer indexes as the code units of a string. A typed array of 80 indexes takes 667 bytes, most of
 * them outside the heap, and several times as long to create; the string takes 87 bytes.
 */
type PackedOrders = string;

export function packOrders(orders: Uint16Array): PackedOrders {
  // Spread syntax would iterate the typed array, which takes seven times as long.
  return String.fromCharCode.apply(null, orders as unknown as number[]);
}

/** Packs the 16-bit little-endian numbers in `bytes[start, end)`, which need not be aligned. */
export function packOrderBytes(bytes: Buffer, start: number, end: number): PackedOrders {
  return bytes.toString('utf16le', start, end);
}

/** The offer at a position, counted from 0 through all orders one after the other. */
export function packedOfferAt(orders: PackedOrders, place: number): number {
  return orders.charCodeAt(place);
}

/**
 * Offers at their daily cap (docs/contract.md#daily-caps), which responses leave out. Immutable: the total of a ranking is valid as
 * long as the current object is the one that it was counted with.
 */
export interface UnavailableOffers {
  readonly count: number;
  /** Bit `offer & 31` of word `offer >> 5` is set for an unavailable offer; null for none. */
  readonly bits: Int32Array | null;
}

export const noUnavailableOffers: UnavailableOffers = { count: 0, bits: null };

/**
 * Port for matching: finds the offers that a borrower can get, in all four orders. One adapter ranks in the calling thread, the other
 * sends batches to worker threads. Both apply the same rules to the same compiled catalog.
 */
export interface Matcher {
  /**
   * Returns the ranking, or a promise of it if worker threads rank. Null if the queue is full, so that the caller responds 503, or if
   * the request was cancelled in the queue. Throws or rejects only on a bug.
   */
  match(request: MatchRequest): Ranking | null | Promise<Ranking | null>;
  /** Requests in the queue or in progress. */
  readonly pendingCount: number;
  /** Worker threads that can rank now: 0 if there are none or all of them are being replaced. */
  readonly readyThreads: number;
  close(): Promise<void>;
}

export interface MatchRequest {
  /** A version in the `CatalogStore` of the same service. */
  readonly catalogVersion: string;
  /** Read before `match` returns. */
  readonly borrower: Readonly<FieldVector>;
  /** Compact date (YYYYMMDD, UTC) at which ages are computed. */
  readonly today: number;
  /** Unavailable offers of that catalog, a bit each; null for none. */
  readonly unavailable?: Int32Array | null;
  /** Cancels the request in the queue once it has ended; null for never. */
  readonly signal?: CancelSignal | null;
}

/** The orders of a response (docs/contract.md#sort-orders), in their order in a ranking. */
export const sortOrders = ['recommended', 'lowest_apr', 'highest_amount', 'svc_revenue'] as const;
export type SortOrder = (typeof sortOrders)[number];

export interface Ranking {
  readonly catalogVersion: string;
  /** Offers that match and are available. */
  readonly total: number;
  /** Whether `orders` leave unavailable offers out, because too few of the best offers are available. */
  readonly availableOnly: boolean;
  /**
   * Indexes of offers in the catalog: for each of `sortOrders` the best that match, up to `orderLength` of the tables, one order after
   * the other. Includes unavailable offers unless `availableOnly`, and at least `min(total, 20)` available ones.
   */
  readonly orders: PackedOrders;
}

/** A ranking before it is packed. */
export interface RankedOffers {
  readonly total: number;
  readonly availableOnly: boolean;
  readonly orders: Uint16Array;
}
