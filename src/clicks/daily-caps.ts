import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import type { ReplacedCatalog } from '../catalogs/catalog-store.ts';
import type { CompiledCatalog } from '../catalogs/compile-catalog.ts';
import { dayOf, dayStartMs } from '../domain/calendar.ts';
import { decodeSubId } from '../ids/sub-id.ts';
import type { LedgerSubscriber } from '../ledger/ledger.ts';
import { type LedgerRecord, ledgerRecordKind, type OfferClicked } from '../ledger/ledger-record.ts';
import { noUnavailableOffers, type UnavailableOffers } from '../matching/matcher.ts';
import { classifyClick } from './click-rules.ts';
import { type RandomOfferId, SessionOfferPairs } from './session-offer-pairs.ts';

/**
 * An offer with a daily cap (docs/contract.md#daily-caps) and its booked clicks. Two days are counted, so that a wall clock set back over
 * midnight finds the count it left.
 */
class OfferCapState {
  /** Null until the catalog that gives it comes into use. */
  dailyCap: number | null = null;
  /** Wall time at which the catalog in use no longer had the offer; null while it does. Its cap holds on for the links shown. */
  removedMs: number | null = null;
  readonly randomId: RandomOfferId;
  readonly #days = [-1, -1];
  readonly #counts = [0, 0];

  constructor() {
    const bits = randomBytes(8);
    this.randomId = { high: bits.readUInt32BE(0), low: bits.readUInt32BE(4) };
  }

  bookedClicks(day: number): number {
    return this.#days[day & 1] === day ? this.#counts[day & 1]! : 0;
  }

  bookClick(day: number): void {
    this.#counts[day & 1] = this.bookedClicks(day) + 1;
    this.#days[day & 1] = day;
  }

  isAtCap(day: number): boolean {
    return this.dailyCap !== null && this.bookedClicks(day) >= this.dailyCap;
  }
}

/**
 * Applies a ledger record to the offers that it names, by the rules of docs/contract.md#counting-clicks. Returns whether an
 * offer of the active catalog reached its cap.
 */
function applyRecord(
  record: LedgerRecord,
  offers: ReadonlyMap<string, OfferCapState>,
  pairs: SessionOfferPairs,
): boolean {
  switch (record[0]) {
    case ledgerRecordKind.offersViewed: {
      const [, wallMs, sub, , offerIds] = record;
      for (const id of offerIds) {
        const offer = offers.get(id);
        if (offer !== undefined) pairs.markShown(sub, offer.randomId);
      }
      // No click of older sessions counts any more.
      pairs.evictBefore(wallMs - bounds.clickAttributionMs - bounds.clockSetBackMsMax);
      return false;
    }
    case ledgerRecordKind.offerClicked: {
      const offer = offers.get(record[4]);
      return offer !== undefined && applyClick(record, offer, pairs);
    }
    case ledgerRecordKind.revenueConfirmed: {
      const offer = offers.get(record[3]);
      if (offer === undefined || record[8] === null) return false;
      // It may bring a click that nothing else has. That one takes no place, but no later one is the first.
      if (pairs.state(record[2], offer.randomId) === 'shown') pairs.markClicked(record[2], offer.randomId);
      return false;
    }
  }
  return false;
}

function applyClick(
  [, clickedMs, sub, , , , , withinDailyCap]: OfferClicked,
  offer: OfferCapState,
  pairs: SessionOfferPairs,
): boolean {
  // The recorded decision stands. A click from a time when the offer had no cap has none.
  if (withinDailyCap === null || pairs.state(sub, offer.randomId) === 'clicked') return false;
  if (withinDailyCap === undefined && !isCountedClick(sub, clickedMs, offer, pairs)) return false;
  pairs.markClicked(sub, offer.randomId);
  if (withinDailyCap === false) return false;
  const day = dayOf(clickedMs);
  offer.bookClick(day);
  return offer.removedMs === null && offer.isAtCap(day);
}

/** Whether a click counts. Assumes that the offer was shown to a session whose pairs may have been evicted. */
function isCountedClick(
  sub: Uint8Array,
  clickedMs: number,
  { randomId }: OfferCapState,
  pairs: SessionOfferPairs,
): boolean {
  const { createdMs } = decodeSubId(sub);
  const state = pairs.state(sub, randomId);
  const wasShown = state !== 'none' || !pairs.isComplete(createdMs);
  return classifyClick({ wasShown, wasClicked: state === 'clicked', createdMs }, clickedMs) === 'counted';
}

/** What an offer's daily cap makes of a click. */
interface CapDecision {
  /** The day's places are taken: the click is worth nothing. */
  readonly atCap: boolean;
  /** What the click's record says of it; undefined where there is no cap. */
  readonly withinDailyCap: boolean | null | undefined;
}

/**
 * Visits the records that the ledger has taken up to the moment of the call, in order, from before `sinceMs` on; what the
 * ledger takes during the visit may be among them, or not.
 */
export type ReadLedgerSince = (sinceMs: number, visit: (record: LedgerRecord) => void) => Promise<void>;

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
export class DailyCaps implements LedgerSubscriber {
  readonly #states = new Map<number, CatalogCapState>();
  readonly #pairsMax: number;
  readonly #pairs: SessionOfferPairs;
  /** Records taken by the log while a catalog is being prepared. */
  #bufferedRecords: LedgerRecord[] | null = null;
  /** Capped offers of all shelves: no more than the catalogs that are kept have, and so bounded with them. */
  #cappedOfferCount = 0;
  readonly #completeSinceMs: number;

  constructor(nowMs: number, pairsMax: number = bounds.sessionCappedOfferPairsMax) {
    this.#completeSinceMs = replayStartMs(nowMs);
    this.#pairsMax = pairsMax;
    this.#pairs = new SessionOfferPairs(pairsMax, this.#completeSinceMs);
  }

  get replaySinceMs(): number {
    return this.isIdle ? Number.POSITIVE_INFINITY : this.#completeSinceMs;
  }

  /** No offer has a cap: nothing needs to be seen. */
  get isIdle(): boolean {
    return this.#cappedOfferCount === 0 && this.#bufferedRecords === null;
  }

  /** How many offers are closed, of all catalogs. */
  countUnavailableOffers(nowMs: number): number {
    let count = 0;
    for (const { catalog } of this.#states.values()) {
      if (catalog !== null) count += this.unavailableOffers(catalog, nowMs).count;
    }
    return count;
  }

  /** The closed offers of a catalog in use. */
  unavailableOffers(catalog: CompiledCatalog, nowMs: number): UnavailableOffers {
    if (catalog.dailyCaps.size === 0) return noUnavailableOffers;
    const shelf = this.#stateOf(catalog);
    if (shelf.catalog !== catalog) throw new Error('asked for the closed offers of a catalog that is not in use');
    const day = dayOf(nowMs);
    if (shelf.unavailableDay !== day) {
      shelf.unavailable = computeUnavailableOffers(day, shelf.offers, catalog);
      shelf.unavailableDay = day;
    }
    return shelf.unavailable;
  }

  /** Judges a click that is about to be recorded, or one that will not be. */
  check(sub: Uint8Array, offerId: string, clickedMs: number): CapDecision {
    if (this.#cappedOfferCount === 0) return noCapDecision;
    const offer = this.#states.get(stateKeyOfSub(sub))?.offers.get(offerId);
    if (offer === undefined || offer.dailyCap === null) return noCapDecision;
    const atCap = offer.isAtCap(dayOf(clickedMs));
    return { atCap, withinDailyCap: isCountedClick(sub, clickedMs, offer, this.#pairs) ? !atCap : null };
  }

  /** Takes note of a record that the log has taken. */
  apply(record: LedgerRecord): void {
    if (this.isIdle) return;
    // The bytes of the sub_id are the caller's, and will be others.
    this.#bufferedRecords?.push(record.with(2, Buffer.from(record[2])) as unknown as LedgerRecord);
    const shelf = this.#states.get(stateKeyOfSub(record[2]));
    if (shelf !== undefined && applyRecord(record, shelf.offers, this.#pairs)) shelf.unavailableDay = null;
  }

  /** Reads what must be known of the offers that a catalog, about to come into use, gives their first cap. */
  async loadHistory(catalog: CompiledCatalog, nowMs: number, readHistory: ReadLedgerSince): Promise<void> {
    const shelf = this.#stateOf(catalog);
    const offers = new Map<string, OfferCapState>();
    for (const id of catalog.dailyCaps.keys()) if (!shelf.offers.has(id)) offers.set(id, new OfferCapState());
    if (offers.size === 0) return;
    const sinceMs = replayStartMs(nowMs);
    const isOfShelf = (record: LedgerRecord): boolean => stateKeyOfSub(record[2]) === stateKeyOfCatalog(catalog);
    // Of their own, while records are read that are older than those seen meanwhile.
    const pairs = new SessionOfferPairs(this.#pairsMax, sinceMs);
    const bufferedRecords: LedgerRecord[] = [];
    this.#bufferedRecords = bufferedRecords;
    try {
      await readHistory(sinceMs, (record) => {
        if (isOfShelf(record)) applyRecord(record, offers, pairs);
      });
      for (const _ of this.#pairs.merge(pairs)) await nextTurn();
    } finally {
      this.#bufferedRecords = null;
    }
    for (const record of bufferedRecords) if (isOfShelf(record)) applyRecord(record, offers, this.#pairs);
    for (const [id, offer] of offers) shelf.offers.set(id, offer);
    this.#cappedOfferCount += offers.size;
  }

  /**
   * Has the caps of a catalog hold from `nowMs` on: it is in use. Its offers are new, or prepared. An offer that it no longer
   * has keeps the cap it had last while links to it live, which is as long as the replaced catalog is kept (docs/contract.md#daily-caps).
   */
  activate(catalog: CompiledCatalog, nowMs: number): void {
    const shelf = this.#stateOf(catalog);
    const offers = new Map<string, OfferCapState>();
    for (const [id, cap] of catalog.dailyCaps) {
      const offer = shelf.offers.get(id) ?? new OfferCapState();
      offer.dailyCap = cap;
      offer.removedMs = null;
      offers.set(id, offer);
    }
    for (const [id, offer] of shelf.offers) {
      // An offer that stays without a cap has it lifted; one without a cap yet was prepared for a catalog that never came.
      if (catalog.offerIndex(id) >= 0 || offer.dailyCap === null) continue;
      offer.removedMs ??= nowMs;
      offers.set(id, offer);
    }
    shelf.offers = offers;
    shelf.catalog = catalog;
    shelf.unavailableDay = null;
    this.#deleteExpiredOffers(nowMs);
  }

  /** After a restart: as `adopt` of the catalogs that are kept though replaced, in that order, and then of the one in use. */
  restoreCatalogs(catalog: CompiledCatalog, replaced: readonly ReplacedCatalog[]): void {
    let sinceMs = 0;
    for (const { compiled, replacedMs } of replaced) {
      this.activate(compiled, sinceMs);
      sinceMs = replacedMs;
    }
    this.activate(catalog, sinceMs);
  }

  #deleteExpiredOffers(nowMs: number): void {
    this.#cappedOfferCount = 0;
    for (const { offers } of this.#states.values()) {
      for (const [id, { removedMs }] of offers) {
        if (removedMs !== null && nowMs - removedMs >= bounds.replacedCatalogRetentionMs) offers.delete(id);
      }
      this.#cappedOfferCount += offers.size;
    }
  }

  #stateOf(catalog: CompiledCatalog): CatalogCapState {
    const key = stateKeyOfCatalog(catalog);
    let shelf = this.#states.get(key);
    if (shelf === undefined) {
      shelf = { catalog: null, offers: new Map(), unavailable: noUnavailableOffers, unavailableDay: null };
      this.#states.set(key, shelf);
    }
    return shelf;
  }
}

/** The capped offers of one vertical and mode. */
interface CatalogCapState {
  /** Null before the first comes into use. */
  catalog: CompiledCatalog | null;
  /** By id: those of the catalog in use, and departed ones. */
  offers: Map<string, OfferCapState>;
  unavailable: UnavailableOffers;
  /** The day that `closed` is of; null when it must be looked at anew. */
  unavailableDay: number | null;
}

const noCapDecision: CapDecision = { atCap: false, withinDailyCap: undefined };

/**
 * Who clicks on some day was shown the offer on that day or the day before. An hour more, so that nothing is missed if the
 * wall clock is set back a little.
 */
function replayStartMs(nowMs: number): number {
  return dayStartMs(dayOf(nowMs)) - bounds.clickAttributionMs - bounds.clockSetBackMsMax;
}

/** Vertical and mode as one number, as a sub_id has them. */
function stateKeyOfCatalog({ vertical, mode }: CompiledCatalog): number {
  return (vertical.number << 1) | (mode === 'test' ? 1 : 0);
}

function stateKeyOfSub(sub: Uint8Array): number {
  const { vertical, mode } = decodeSubId(sub);
  return (vertical << 1) | (mode === 'test' ? 1 : 0);
}

function computeUnavailableOffers(
  day: number,
  offers: ReadonlyMap<string, OfferCapState>,
  catalog: CompiledCatalog,
): UnavailableOffers {
  const bits = new Int32Array((catalog.offers.length + 31) >>> 5);
  let count = 0;
  for (const id of catalog.dailyCaps.keys()) {
    if (offers.get(id)?.isAtCap(day) !== true) continue;
    const index = catalog.offerIndex(id);
    bits[index >>> 5]! |= 1 << (index & 31);
    count++;
  }
  return count === 0 ? noUnavailableOffers : { count, bits };
}
