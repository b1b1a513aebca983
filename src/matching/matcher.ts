import type { CancelSignal } from '../domain/async.ts';
import type { FieldVector } from '../domain/field-vector.ts';
import { countOffers, type OfferSet } from './offer-set.ts';
import type { MatchCatalog } from './product-ranking.ts';

/**
 * Sort orders of a ranking, packed into a string with one 16-bit offer index per UTF-16 code unit. For 80 offers, a packed string takes 87
 * bytes. A typed array takes 667 bytes, and its creation takes several times longer.
 */
type PackedOrders = string;

export function packOffers(orders: Uint16Array): PackedOrders {
  // `fromCharCode.apply(null, orders)` is seven times faster than `fromCharCode(...orders)`.
  return String.fromCharCode.apply(null, orders as unknown as number[]);
}

/** Packs 16-bit little-endian offer indexes, at the offsets from `start` (may be odd) to `end` (exclusive), into a string. */
export function packOfferBytes(bytes: Buffer, start: number, end: number): PackedOrders {
  return bytes.toString('utf16le', start, end);
}

/** Returns the offer index at a position of packed sort orders. Position 0 is the first offer of the first sort order. */
export function readPackedOffer(orders: PackedOrders, place: number): number {
  return orders.charCodeAt(place);
}

/**
 * Offers that responses omit, for example because the offers have reached their daily cap (docs/contract.md#daily-caps) or used up their
 * budget (docs/contract.md#budgets-and-pacing). An `UnavailableOffers` object is immutable; every change creates a new object.
 */
export interface UnavailableOffers {
  /** Number of the set, which is unique in this process. Sets with the same number contain the same offers. */
  readonly setNumber: number;
  readonly count: number;
  /** Bit set of the unavailable offers: bit `offer & 31` of word `offer >> 5`; null if all offers are available. */
  readonly bits: Int32Array | null;
}

export const allOffersAvailable: UnavailableOffers = { setNumber: 0, count: 0, bits: null };

let lastSetNumber = 0;

/** Creates the set from a bit set of offers. `bits` must not change afterwards. */
export function createUnavailableOfferSet(bits: OfferSet): UnavailableOffers {
  const count = countOffers(bits);
  return count === 0 ? allOffersAvailable : { setNumber: ++lastSetNumber, count, bits };
}

/**
 * Finds and ranks the offers that a borrower can get, in all four sort orders. `startMatcher` creates a matcher that ranks small catalogs
 * in the calling thread. `PoolMatcher` sends batches of requests to worker threads. The calling thread and the worker threads apply
 * the same rules to the same compiled catalogs.
 */
export interface Matcher {
  /**
   * Returns the ranking, or a promise of the ranking if worker threads rank. Returns null if the queue is full (then the caller responds
   * with status 503) or if the request was cancelled in the queue. If `match` throws or the promise rejects, the cause is a bug.
   */
  match(request: MatchRequest): Ranking | null | Promise<Ranking | null>;
  /** Number of requests in the queue or in progress. */
  readonly pendingRequestCount: number;
  /** Number of worker threads that are ready; 0 if matching runs without worker threads. */
  readonly readyThreadCount: number;
  close(): Promise<void>;
}

export interface MatchRequest {
  readonly catalog: MatchCatalog;
  /** Fields of the borrower. The caller may change the vector after `match` has returned. */
  readonly borrower: Readonly<FieldVector>;
  /** Current UTC date as a compact date (YYYYMMDD), for computing ages. */
  readonly today: number;
  /** Bit set of the unavailable offers in the catalog; null if all offers are available. */
  readonly unavailable?: Int32Array | null;
  /** Signal that cancels the request while the request is in the queue; null if the request is never cancelled. */
  readonly signal?: CancelSignal | null;
}

export interface Ranking {
  readonly catalogVersion: string;
  /** Number of offers that match the borrower, including the unavailable offers. */
  readonly total: number;
  /** Whether `orders` contains only offers that were available during the ranking. Otherwise `orders` can contain unavailable offers. */
  readonly availableOnly: boolean;
  /**
   * Offer indexes of the best matching offers in each of `sortOrderNames`, one sort order after the other. Each sort order has up to
   * `MatchTables.orderLength` offers. Each sort order contains at least 20 matching offers that were available during the ranking, or all
   * of these offers if there are fewer.
   */
  readonly orders: PackedOrders;
}
