import { setImmediate as nextTurn } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import { dayOf, dayStartMs } from '../domain/calendar.ts';
import type { LedgerRecord } from '../events/ledger-record.ts';
import type { ReplacedCatalog } from '../offers/catalog-library.ts';
import { type ClosedOffers, noneClosed } from '../offers/closed-offers.ts';
import type { CompiledCatalog } from '../offers/compile-catalog.ts';
import { decodeSubId } from '../sessions/sub-id.ts';
import { CappedOffer } from './capped-offer.ts';
import { followRecord, mayBook } from './follow-record.ts';
import { SessionPairs } from './session-pairs.ts';

/** What an offer's daily cap makes of a click. */
export interface CapVerdict {
  /** The day's places are taken: the click is worth nothing. */
  readonly atCap: boolean;
  /** What the click's record says of it; undefined where there is no cap. */
  readonly withinDailyCap: boolean | null | undefined;
}

/**
 * Visits the records that the ledger has taken up to the moment of the call, in order, from before `sinceMs` on; what the
 * ledger takes during the visit may be among them, or not.
 */
export type ReadHistory = (sinceMs: number, visit: (record: LedgerRecord) => void) => Promise<void>;

/**
 * Daily caps (docs/contract.md#daily-caps): the clicks that each capped offer has booked on a UTC day, and the offers closed by that. A
 * capped offer is one of a vertical and mode; all accounts share its places, and sandbox clicks take those of the sandbox.
 *
 * It follows the ledger by the rules of docs/contract.md#counting-clicks: the first click of a session on an offer that it
 * was shown, within 24 hours of the session's creation, books. So it must `see` every record right when the log has taken
 * it, and what it knows after a restart, from the same records, is what it knew before. A click is judged, recorded with the
 * verdict and seen in one go, so that no two can get the same place. The verdict stands in the record: the counters never
 * ask what the cap was.
 *
 * Where a cap comes to an offer while the service runs, `prepare` reads what it must know of the last day from the ledger.
 */
export class DailyCaps {
  readonly #shelves = new Map<number, Shelf>();
  readonly #pairsMax: number;
  readonly #pairs: SessionPairs;
  /** Records taken by the log while a catalog is being prepared. */
  #meanwhile: LedgerRecord[] | null = null;
  /** Capped offers of all shelves: no more than the catalogs that are kept have, and so bounded with them. */
  #followed = 0;
  /** After a restart it must see the records from this moment on. */
  readonly neededSinceMs: number;

  constructor(nowMs: number, pairsMax: number = bounds.cappedPairsMax) {
    this.neededSinceMs = neededSinceMs(nowMs);
    this.#pairsMax = pairsMax;
    this.#pairs = new SessionPairs(pairsMax, this.neededSinceMs);
  }

  /** No offer has a cap: nothing needs to be seen. */
  get idle(): boolean {
    return this.#followed === 0 && this.#meanwhile === null;
  }

  /** How many offers are closed, of all catalogs. */
  closedCount(nowMs: number): number {
    let count = 0;
    for (const { catalog } of this.#shelves.values()) {
      if (catalog !== null) count += this.closedOffers(catalog, nowMs).count;
    }
    return count;
  }

  /** The closed offers of a catalog in use. */
  closedOffers(catalog: CompiledCatalog, nowMs: number): ClosedOffers {
    if (catalog.dailyCaps.size === 0) return noneClosed;
    const shelf = this.#shelf(catalog);
    if (shelf.catalog !== catalog) throw new Error('asked for the closed offers of a catalog that is not in use');
    const day = dayOf(nowMs);
    if (shelf.closedOn !== day) {
      shelf.closed = closedOn(day, shelf.offers, catalog);
      shelf.closedOn = day;
    }
    return shelf.closed;
  }

  /** Judges a click that is about to be recorded, or one that will not be. */
  judge(sub: Uint8Array, offerId: string, clickedMs: number): CapVerdict {
    if (this.#followed === 0) return uncapped;
    const offer = this.#shelves.get(shelfOf(sub))?.offers.get(offerId);
    if (offer === undefined || offer.cap === null) return uncapped;
    const atCap = offer.isFull(dayOf(clickedMs));
    return { atCap, withinDailyCap: mayBook(sub, offer, this.#pairs) ? !atCap : null };
  }

  /** Takes note of a record that the log has taken. */
  see(record: LedgerRecord): void {
    if (this.idle) return;
    // The bytes of the sub_id are the caller's, and will be others.
    this.#meanwhile?.push(record.with(2, Buffer.from(record[2])) as unknown as LedgerRecord);
    const shelf = this.#shelves.get(shelfOf(record[2]));
    if (shelf !== undefined && followRecord(record, shelf.offers, this.#pairs)) shelf.closedOn = null;
  }

  /** Reads what must be known of the offers that a catalog, about to come into use, gives their first cap. */
  async prepare(catalog: CompiledCatalog, nowMs: number, readHistory: ReadHistory): Promise<void> {
    const shelf = this.#shelf(catalog);
    const offers = new Map<string, CappedOffer>();
    for (const id of catalog.dailyCaps.keys()) if (!shelf.offers.has(id)) offers.set(id, new CappedOffer());
    if (offers.size === 0) return;
    const sinceMs = neededSinceMs(nowMs);
    const isOfShelf = (record: LedgerRecord): boolean => shelfOf(record[2]) === shelfKey(catalog);
    // Of their own, while records are read that are older than those seen meanwhile.
    const pairs = new SessionPairs(this.#pairsMax, sinceMs);
    const meanwhile: LedgerRecord[] = [];
    this.#meanwhile = meanwhile;
    try {
      await readHistory(sinceMs, (record) => {
        if (isOfShelf(record)) followRecord(record, offers, pairs);
      });
      for (const _ of this.#pairs.takeIn(pairs)) await nextTurn();
    } finally {
      this.#meanwhile = null;
    }
    for (const record of meanwhile) if (isOfShelf(record)) followRecord(record, offers, this.#pairs);
    for (const [id, offer] of offers) shelf.offers.set(id, offer);
    this.#followed += offers.size;
  }

  /**
   * Has the caps of a catalog hold from `nowMs` on: it is in use. Its offers are new, or prepared. An offer that it no longer
   * has keeps the cap it had last while links to it live, which is as long as the replaced catalog is kept (docs/contract.md#daily-caps).
   */
  adopt(catalog: CompiledCatalog, nowMs: number): void {
    const shelf = this.#shelf(catalog);
    const offers = new Map<string, CappedOffer>();
    for (const [id, cap] of catalog.dailyCaps) {
      const offer = shelf.offers.get(id) ?? new CappedOffer();
      offer.cap = cap;
      offer.departedMs = null;
      offers.set(id, offer);
    }
    for (const [id, offer] of shelf.offers) {
      // An offer that stays without a cap has it lifted; one without a cap yet was prepared for a catalog that never came.
      if (catalog.offerIndex(id) >= 0 || offer.cap === null) continue;
      offer.departedMs ??= nowMs;
      offers.set(id, offer);
    }
    shelf.offers = offers;
    shelf.catalog = catalog;
    shelf.closedOn = null;
    this.#forgetDeparted(nowMs);
  }

  /** After a restart: as `adopt` of the catalogs that are kept though replaced, in that order, and then of the one in use. */
  resume(catalog: CompiledCatalog, replaced: readonly ReplacedCatalog[]): void {
    let sinceMs = 0;
    for (const { compiled, replacedMs } of replaced) {
      this.adopt(compiled, sinceMs);
      sinceMs = replacedMs;
    }
    this.adopt(catalog, sinceMs);
  }

  #forgetDeparted(nowMs: number): void {
    this.#followed = 0;
    for (const { offers } of this.#shelves.values()) {
      for (const [id, { departedMs }] of offers) {
        if (departedMs !== null && nowMs - departedMs >= bounds.catalogKeptMs) offers.delete(id);
      }
      this.#followed += offers.size;
    }
  }

  #shelf(catalog: CompiledCatalog): Shelf {
    const key = shelfKey(catalog);
    let shelf = this.#shelves.get(key);
    if (shelf === undefined) {
      shelf = { catalog: null, offers: new Map(), closed: noneClosed, closedOn: null };
      this.#shelves.set(key, shelf);
    }
    return shelf;
  }
}

/** The capped offers of one vertical and mode. */
interface Shelf {
  /** Null before the first comes into use. */
  catalog: CompiledCatalog | null;
  /** By id: those of the catalog in use, and departed ones. */
  offers: Map<string, CappedOffer>;
  closed: ClosedOffers;
  /** The day that `closed` is of; null when it must be looked at anew. */
  closedOn: number | null;
}

const uncapped: CapVerdict = { atCap: false, withinDailyCap: undefined };

/**
 * Who clicks on some day was shown the offer on that day or the day before. An hour more, so that nothing is missed if the
 * wall clock is set back a little.
 */
function neededSinceMs(nowMs: number): number {
  return dayStartMs(dayOf(nowMs)) - bounds.clickAttributedMs - bounds.clockSetBackMs;
}

/** Vertical and mode as one number, as a sub_id has them. */
function shelfKey({ vertical, mode }: CompiledCatalog): number {
  return (vertical.number << 1) | (mode === 'test' ? 1 : 0);
}

function shelfOf(sub: Uint8Array): number {
  const { vertical, mode } = decodeSubId(sub);
  return (vertical << 1) | (mode === 'test' ? 1 : 0);
}

function closedOn(day: number, offers: ReadonlyMap<string, CappedOffer>, catalog: CompiledCatalog): ClosedOffers {
  const bits = new Int32Array((catalog.offers.length + 31) >>> 5);
  let count = 0;
  for (const id of catalog.dailyCaps.keys()) {
    if (offers.get(id)?.isFull(day) !== true) continue;
    const index = catalog.offerIndex(id);
    bits[index >>> 5]! |= 1 << (index & 31);
    count++;
  }
  return count === 0 ? noneClosed : { count, bits };
}
