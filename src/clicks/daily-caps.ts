import { randomBytes } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import type { ReplacedCatalog } from '../catalogs/catalog-store.ts';
import type { CompiledCatalog } from '../catalogs/compile-catalog.ts';
import { dayStartMs, daysSinceEpoch } from '../domain/calendar.ts';
import { decodeSubId } from '../ids/sub-id.ts';
import type { LedgerSubscriber } from '../ledger/ledger.ts';
import { type LedgerRecord, ledgerRecordKind, type OfferClickedRecord } from '../ledger/ledger-record.ts';
import { allOffersAvailable, type UnavailableOffers } from '../matching/matcher.ts';
import { classifyClick } from './click-rules.ts';
import { type OfferKeyBits, SessionOfferPairs } from './session-offer-pairs.ts';

/**
 * Daily cap of an offer, and the number of clicks that booked revenue on each of the last two days (docs/contract.md#daily-caps). If the
 * wall clock is set back past midnight, the count of the previous day is used again.
 */
class OfferCapState {
  /** Maximum number of clicks per day that book revenue; null until the catalog of the offer is active. */
  dailyCap: number | null = null;
  /** Time at which the offer left the active catalog, or null. The daily cap still applies to links that were shown before `removedMs`. */
  removedMs: number | null = null;
  readonly randomId: OfferKeyBits;
  readonly #days = [-1, -1];
  readonly #counts = [0, 0];

  constructor() {
    const bits = randomBytes(8);
    this.randomId = { high: bits.readUInt32BE(0), low: bits.readUInt32BE(4) };
  }

  bookedClicks(day: number): number {
    return this.#days[day & 1] === day ? this.#counts[day & 1]! : 0;
  }

  addBookedClick(day: number): void {
    this.#counts[day & 1] = this.bookedClicks(day) + 1;
    this.#days[day & 1] = day;
  }

  hasReachedCap(day: number): boolean {
    return this.dailyCap !== null && this.bookedClicks(day) >= this.dailyCap;
  }
}

/**
 * Applies a ledger record to the offers that have a daily cap (docs/contract.md#counting-clicks). Returns true if an offer of the active
 * catalog has now reached its cap.
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
      // Evicts the session-offer pairs of old sessions, whose clicks no longer count.
      pairs.evictOldPairs(wallMs - bounds.clickAttributionMs - bounds.clockSetBackMsMax);
      return false;
    }
    case ledgerRecordKind.offerClicked: {
      const offer = offers.get(record[4]);
      return offer !== undefined && applyClick(record, offer, pairs);
    }
    case ledgerRecordKind.revenueConfirmed: {
      const offer = offers.get(record[3]);
      if (offer === undefined || record[8] === null) return false;
      // A confirmation can create a missing click (docs/contract.md#clicks-without-a-record), which does not count towards the daily cap.
      // Later clicks on the offer in the same session count as repeats.
      if (pairs.getPairState(record[2], offer.randomId) === 'shown') pairs.markClicked(record[2], offer.randomId);
      return false;
    }
  }
  return false;
}

function applyClick(
  [, clickedMs, sub, , , , , isBooked]: OfferClickedRecord,
  offer: OfferCapState,
  pairs: SessionOfferPairs,
): boolean {
  // The decision `isBooked` in the click's record is final. `isBooked` is undefined if the offer had no daily cap at the time
  // of the click.
  if (isBooked === null || pairs.getPairState(sub, offer.randomId) === 'clicked') return false;
  if (isBooked === undefined && !isCountedClick(sub, clickedMs, offer, pairs)) return false;
  pairs.markClicked(sub, offer.randomId);
  if (isBooked === false) return false;
  const day = daysSinceEpoch(clickedMs);
  offer.addBookedClick(day);
  return offer.removedMs === null && offer.hasReachedCap(day);
}

/**
 * Whether a click counts by docs/contract.md#counting-clicks. If `pairs` may have evicted the session, assumes that the offer was shown.
 */
function isCountedClick(
  sub: Uint8Array,
  clickedMs: number,
  { randomId }: OfferCapState,
  pairs: SessionOfferPairs,
): boolean {
  const { createdMs } = decodeSubId(sub);
  const state = pairs.getPairState(sub, randomId);
  const wasShown = state !== 'none' || !pairs.hasAllPairsSince(createdMs);
  return classifyClick({ wasShown, wasClicked: state === 'clicked', createdMs }, clickedMs) === 'counted';
}

interface CapDecision {
  /** Whether the offer has reached its daily cap. Clicks on an offer at its cap book no revenue. */
  readonly atCap: boolean;
  /** Value to store in the click record; undefined for an offer without a cap. */
  readonly isBooked: boolean | null | undefined;
}

/** Passes the ledger records since `sinceMs` to `visit`, in order. May omit records that are appended while the function runs. */
export type LedgerReader = (sinceMs: number, visit: (record: LedgerRecord) => void) => Promise<void>;

/**
 * Enforces daily caps (docs/contract.md#daily-caps): counts the clicks that book revenue, per capped offer and UTC day, and lists the
 * offers that reached their cap. All accounts share the cap of an offer. Clicks in live sessions and clicks in test sessions are counted
 * separately.
 *
 * After a restart, the counts are computed again from the ledger by the rules of docs/contract.md#counting-clicks. A click is checked,
 * recorded and counted in one turn of the event loop, so that concurrent clicks cannot exceed a cap. The click's record states whether the
 * click is within the daily cap, so analytics do not check the cap again.
 *
 * If an offer gets its first cap while the service runs, `loadPastClicks` counts the offer's earlier clicks from the ledger.
 */
export class DailyCaps implements LedgerSubscriber {
  readonly #states = new Map<number, CatalogCapState>();
  readonly #pairsMax: number;
  readonly #pairs: SessionOfferPairs;
  /** New ledger records, buffered until `loadPastClicks` has read the older records; null if `loadPastClicks` is not running. */
  #bufferedRecords: LedgerRecord[] | null = null;
  #cappedOfferCount = 0;
  readonly #completeSinceMs: number;

  constructor(nowMs: number, pairsMax: number = bounds.sessionCappedOfferPairsMax) {
    this.#completeSinceMs = replayStartTimeMs(nowMs);
    this.#pairsMax = pairsMax;
    this.#pairs = new SessionOfferPairs(pairsMax, this.#completeSinceMs);
  }

  get replayStartTimeMs(): number {
    return this.hasNoCaps ? Number.POSITIVE_INFINITY : this.#completeSinceMs;
  }

  /** True if no offer has a daily cap. `DailyCaps` then ignores ledger records. */
  get hasNoCaps(): boolean {
    return this.#cappedOfferCount === 0 && this.#bufferedRecords === null;
  }

  countUnavailableOffers(nowMs: number): number {
    let count = 0;
    for (const { catalog } of this.#states.values()) {
      if (catalog !== null) count += this.unavailableOffers(catalog, nowMs).count;
    }
    return count;
  }

  /** Returns the offers of an active catalog that have reached their daily cap. */
  unavailableOffers(catalog: CompiledCatalog, nowMs: number): UnavailableOffers {
    if (catalog.dailyCaps.size === 0) return allOffersAvailable;
    const state = this.#getCatalogCaps(catalog);
    if (state.catalog !== catalog) throw new Error('catalog is not active');
    const day = daysSinceEpoch(nowMs);
    if (state.unavailableDay !== day) {
      state.unavailable = computeUnavailableOffers(day, state.offers, catalog);
      state.unavailableDay = day;
    }
    return state.unavailable;
  }

  checkDailyCap(sub: Uint8Array, offerId: string, clickedMs: number): CapDecision {
    if (this.#cappedOfferCount === 0) return noCapDecision;
    const offer = this.#states.get(stateKeyOfSub(sub))?.offers.get(offerId);
    if (offer === undefined || offer.dailyCap === null) return noCapDecision;
    const atCap = offer.hasReachedCap(daysSinceEpoch(clickedMs));
    return { atCap, isBooked: isCountedClick(sub, clickedMs, offer, this.#pairs) ? !atCap : null };
  }

  applyLedgerRecord(record: LedgerRecord): void {
    if (this.hasNoCaps) return;
    // Copies the bytes of the sub_id, because the ledger overwrites the original bytes with later records.
    this.#bufferedRecords?.push(record.with(2, Buffer.from(record[2])) as unknown as LedgerRecord);
    const state = this.#states.get(stateKeyOfSub(record[2]));
    if (state !== undefined && applyRecord(record, state.offers, this.#pairs)) state.unavailableDay = null;
  }

  /** Reads the ledger to count earlier clicks on those offers of a new catalog that had no daily cap before. */
  async loadPastClicks(catalog: CompiledCatalog, nowMs: number, readHistory: LedgerReader): Promise<void> {
    const state = this.#getCatalogCaps(catalog);
    const offers = new Map<string, OfferCapState>();
    for (const id of catalog.dailyCaps.keys()) if (!state.offers.has(id)) offers.set(id, new OfferCapState());
    if (offers.size === 0) return;
    const sinceMs = replayStartTimeMs(nowMs);
    const isOfCatalog = (record: LedgerRecord): boolean => stateKeyOfSub(record[2]) === stateKeyOfCatalog(catalog);
    // Collects pairs from the ledger in a separate set, because new clicks and views change `#pairs` at the same time.
    const pairs = new SessionOfferPairs(this.#pairsMax, sinceMs);
    const bufferedRecords: LedgerRecord[] = [];
    this.#bufferedRecords = bufferedRecords;
    try {
      await readHistory(sinceMs, (record) => {
        if (isOfCatalog(record)) applyRecord(record, offers, pairs);
      });
      for (const _ of this.#pairs.addAllPairs(pairs)) await nextTurn();
    } finally {
      this.#bufferedRecords = null;
    }
    for (const record of bufferedRecords) if (isOfCatalog(record)) applyRecord(record, offers, this.#pairs);
    for (const [id, offer] of offers) state.offers.set(id, offer);
    this.#cappedOfferCount += offers.size;
  }

  /**
   * Activates the daily caps of a catalog; `nowMs` is the current time. Call `loadPastClicks` first. The cap of an offer that was
   * removed from the catalog applies for another 28 hours (docs/contract.md#daily-caps).
   */
  activateCatalog(catalog: CompiledCatalog, nowMs: number): void {
    const state = this.#getCatalogCaps(catalog);
    const offers = new Map<string, OfferCapState>();
    for (const [id, cap] of catalog.dailyCaps) {
      const offer = state.offers.get(id) ?? new OfferCapState();
      offer.dailyCap = cap;
      offer.removedMs = null;
      offers.set(id, offer);
    }
    for (const [id, offer] of state.offers) {
      // Drops two kinds of offers: offers whose cap was removed, and offers that were loaded for a catalog that was never activated.
      if (catalog.findOfferIndex(id) >= 0 || offer.dailyCap === null) continue;
      offer.removedMs ??= nowMs;
      offers.set(id, offer);
    }
    state.offers = offers;
    state.catalog = catalog;
    state.unavailableDay = null;
    this.#deleteExpiredCaps(nowMs);
  }

  /** Restores the daily caps after a restart: activates the replaced catalogs, oldest first, and then the current catalog. */
  restoreCaps(catalog: CompiledCatalog, replaced: readonly ReplacedCatalog[]): void {
    let sinceMs = 0;
    for (const { compiled, replacedMs } of replaced) {
      this.activateCatalog(compiled, sinceMs);
      sinceMs = replacedMs;
    }
    this.activateCatalog(catalog, sinceMs);
  }

  #deleteExpiredCaps(nowMs: number): void {
    this.#cappedOfferCount = 0;
    for (const { offers } of this.#states.values()) {
      for (const [id, { removedMs }] of offers) {
        if (removedMs !== null && nowMs - removedMs >= bounds.replacedCatalogRetentionMs) offers.delete(id);
      }
      this.#cappedOfferCount += offers.size;
    }
  }

  #getCatalogCaps(catalog: CompiledCatalog): CatalogCapState {
    const key = stateKeyOfCatalog(catalog);
    let state = this.#states.get(key);
    if (state === undefined) {
      state = { catalog: null, offers: new Map(), unavailable: allOffersAvailable, unavailableDay: null };
      this.#states.set(key, state);
    }
    return state;
  }
}

interface CatalogCapState {
  /** Active catalog; null before the first activation. */
  catalog: CompiledCatalog | null;
  /** Offers with a daily cap by offer id, including removed offers whose cap still applies. */
  offers: Map<string, OfferCapState>;
  unavailable: UnavailableOffers;
  /** UTC day for which `unavailable` was computed; null if a cap or a click count changed after the computation. */
  unavailableDay: number | null;
}

const noCapDecision: CapDecision = { atCap: false, isBooked: undefined };

/** Start of the UTC day minus 25 hours: clicks of a session count for 24 hours, and the clock may be set back by one hour. */
function replayStartTimeMs(nowMs: number): number {
  return dayStartMs(daysSinceEpoch(nowMs)) - bounds.clickAttributionMs - bounds.clockSetBackMsMax;
}

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
    if (offers.get(id)?.hasReachedCap(day) !== true) continue;
    const index = catalog.findOfferIndex(id);
    bits[index >>> 5]! |= 1 << (index & 31);
    count++;
  }
  return count === 0 ? allOffersAvailable : { count, bits };
}
