import type { CancelSignal } from '../domain/async.ts';
import type { FieldVector } from '../verticals/field-vector.ts';

/**
 * Sort orders of a ranking: 16-bit offer indexes as the code units of a string. A typed array of 80 indexes takes 667 bytes, mostly
 * outside the heap, and takes several times as long to create. The string takes 87 bytes.
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

/** Returns the index of the offer at a position. Positions start at 0 and continue through all sort orders. */
export function packedOfferAt(orders: PackedOrders, place: number): number {
  return orders.charCodeAt(place);
}

/**
 * Offers at their daily cap (docs/contract.md#daily-caps), which responses omit. The object is immutable: the total of a ranking is
 * valid only as long as the current object is the object that the total was counted with.
 */
export interface UnavailableOffers {
  readonly count: number;
  /** Bit set: bit `offer & 31` of word `offer >> 5` is set for an unavailable offer. Null if all offers are available. */
  readonly bits: Int32Array | null;
}

export const noUnavailableOffers: UnavailableOffers = { count: 0, bits: null };

/**
 * Port for matching: finds the offers that a borrower can get, in all four sort orders. One adapter ranks in the calling thread, the
 * other sends batches to worker threads. Both adapters apply the same rules to the same compiled catalog.
 */
export interface Matcher {
  /**
   * Returns the ranking, or a promise of the ranking if worker threads rank. Returns null if the queue is full (the caller then responds
   * 503) or if the request was cancelled in the queue. Throws or rejects only because of a bug.
   */
  match(request: MatchRequest): Ranking | null | Promise<Ranking | null>;
  /** Number of requests in the queue or in progress. */
  readonly pendingCount: number;
  /** Number of worker threads that can rank now: 0 if there are no worker threads or if all of them are being replaced. */
  readonly readyThreads: number;
  close(): Promise<void>;
}

export interface MatchRequest {
  /** Version of a catalog in the `CatalogStore` of the same service. */
  readonly catalogVersion: string;
  /** Fields of the borrower. `match` reads them before it returns. */
  readonly borrower: Readonly<FieldVector>;
  /** Compact date (YYYYMMDD, UTC) for which ages are computed. */
  readonly today: number;
  /** Bit set of the unavailable offers of that catalog; null if there are none. */
  readonly unavailable?: Int32Array | null;
  /** Signal that cancels the request while it is in the queue; null if it is never cancelled. */
  readonly signal?: CancelSignal | null;
}

/** Sort orders of a response (docs/contract.md#sort-orders), in their sequence in a ranking. */
export const sortOrders = ['recommended', 'lowest_apr', 'highest_amount', 'svc_revenue'] as const;
export type SortOrder = (typeof sortOrders)[number];

export interface Ranking {
  readonly catalogVersion: string;
  /** Number of offers that match and are available. */
  readonly total: number;
  /** Whether `orders` omits unavailable offers, because too few of the best offers are available. */
  readonly availableOnly: boolean;
  /**
   * Offer indexes: for each of `sortOrders` the best matching offers, up to `orderLength` of the tables. The sort orders follow one
   * another. Includes unavailable offers unless `availableOnly` is true, and at least `min(total, 20)` available offers.
   */
  readonly orders: PackedOrders;
}

/** A ranking whose sort orders are not packed yet. */
export interface RankedOffers {
  readonly total: number;
  readonly availableOnly: boolean;
  readonly orders: Uint16Array;
}
