import type { CancelSignal } from '../domain/async.ts';
import type { FieldVector } from '../verticals/field-vector.ts';

/**
 * The orders of a ranking as they are handed on: offer indices, 16 bits each, as the code units of a string. A typed array of as many
 * numbers takes seven times the memory (667 bytes for 80 of them, most of it outside the heap, against 87) and several times
 * as long to make.
 */
type PackedOrders = string;

export function packOrders(orders: Uint16Array): PackedOrders {
  // Spread out, a typed array would be iterated: seven times as slow.
  return String.fromCharCode.apply(null, orders as unknown as number[]);
}

/** Packs what lies in `bytes[start, end)` as 16-bit numbers, little-endian, at any address. */
export function packOrderBytes(bytes: Buffer, start: number, end: number): PackedOrders {
  return bytes.toString('utf16le', start, end);
}

/** The offer at a place, counted from 0 through all orders end to end. */
export function packedOfferAt(orders: PackedOrders, place: number): number {
  return orders.charCodeAt(place);
}

/**
 * Offers at their daily cap (docs/contract.md#daily-caps); answers leave them out. A set never changes. Whenever another one
 * applies there is another object, so the total of a ranking is right while the set it was counted with is the one that applies.
 */
export interface UnavailableOffers {
  readonly count: number;
  /** Bit `offer & 31` of word `offer >> 5` is set for a closed offer; null when none is closed. */
  readonly bits: Int32Array | null;
}

export const noUnavailableOffers: UnavailableOffers = { count: 0, bits: null };

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

/** A ranking before it is packed. */
export interface RankedOffers {
  readonly total: number;
  readonly availableOnly: boolean;
  readonly orders: Uint16Array;
}
