import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { crc32 } from 'node:zlib';
import { bounds } from '../bounds.ts';
import type { ReplacedCatalog } from '../catalogs/catalog-store.ts';
import type { CompiledCatalog } from '../catalogs/compile-catalog.ts';
import { dayStartMs, daysSinceEpoch, monthOfDay } from '../domain/calendar.ts';
import { getOrAdd } from '../domain/get-or-add.ts';
import { encodeVerticalAndMode, readVerticalAndModeKey, subIdByteLength } from '../ids/sub-id.ts';
import type { LedgerSubscriber } from '../ledger/ledger.ts';
import { type LedgerRecord, ledgerRecordKind } from '../ledger/ledger-record.ts';
import type { UnavailableOffers } from '../matching/matcher.ts';
import { applyRecordToBookings } from './apply-click-record.ts';
import type { BookedRevenueSnapshot } from './booked-revenue-snapshot.ts';
import type { BudgetUse, CatalogAvailability, UnavailabilityReason } from './catalog-availability.ts';
import { OfferBookings } from './offer-bookings.ts';
import type { RevenueKind } from './revenue-totals.ts';
import { SessionOfferPairs } from './session-offer-pairs.ts';
import { VerticalBookings } from './vertical-bookings.ts';

/** Passes the ledger records since `sinceMs` to `visit`, in order. May omit records that are appended while the function runs. */
export type LedgerReader = (sinceMs: number, visit: (record: LedgerRecord, position: number) => void) => Promise<void>;

/**
 * Bookings of the offers of all verticals, and the session-offer pairs of recent sessions, computed from the ledger. Live sessions and test
 * sessions are counted separately.
 *
 * A restart restores the bookings from a snapshot and the later ledger records. Without a usable snapshot, a restart computes the bookings
 * from the ledger records of the month (docs/contributing/decisions/budgets.md).
 *
 * If an offer gets its first limit while the service runs, `loadPastClicks` reads the offer's earlier clicks from the ledger.
 */
export class LedgerBookings implements LedgerSubscriber {
  /** Bookings by vertical and mode, see `encodeVerticalAndMode`. */
  readonly #verticals = new Map<number, VerticalBookings>();
  readonly #pairsMax: number;
  readonly #startMs: number;
  /** First UTC day of the period in which the bookings contain all clicks. */
  #knownSinceDay: number;
  #pairs: SessionOfferPairs;
  /** Snapshot from which the service started; null if there was none. */
  #snapshot: BookedRevenueSnapshot | null;
  /** Whether the ledger contains the last record of the snapshot. */
  #snapshotMatchesLedger = false;
  /** Last applied record, with its position. `#lastSub` is a copy of its sub_id, whose bytes the ledger overwrites. */
  #lastRecord: { readonly record: LedgerRecord; readonly position: number } | null = null;
  readonly #lastSub = Buffer.alloc(subIdByteLength);
  /** New ledger records, buffered until `loadPastClicks` has read the older records; null if `loadPastClicks` is not running. */
  #bufferedRecords: LedgerRecord[] | null = null;

  /** @param nowMs current time, which determines the first ledger record that must be replayed */
  constructor(
    nowMs: number,
    {
      snapshot = null,
      pairsMax = bounds.sessionOfferPairsMax,
    }: { readonly snapshot?: BookedRevenueSnapshot | null; readonly pairsMax?: number } = {},
  ) {
    this.#startMs = nowMs;
    this.#pairsMax = pairsMax;
    const neededDay = firstBookedDay(nowMs);
    // A snapshot that was written while the clock was ahead does not contain the figures of the current month, and is ignored.
    this.#snapshot = snapshot !== null && snapshot.knownSinceDay <= neededDay ? snapshot : null;
    this.#knownSinceDay = this.#snapshot?.knownSinceDay ?? neededDay;
    this.#pairs = new SessionOfferPairs(pairsMax, pairStartMs(nowMs, this.#snapshot));
    for (const [key, stored] of this.#snapshot?.verticals ?? []) this.#findOrAddVertical(key).restoreBookings(stored);
  }

  /**
   * Without a snapshot: start of the current month or 15 days ago, whichever is earlier. With a snapshot: time from which session-offer
   * pairs are needed.
   */
  get replayStartTimeMs(): number {
    if (this.#snapshot === null) return bookedRevenueStartMs(this.#startMs);
    const verticals = [...this.#verticals.values()];
    if (!verticals.some(({ tracksSessions }) => tracksSessions)) return Number.POSITIVE_INFINITY;
    const recountsClicks = verticals.some((verticalBookings) => verticalBookings.recountsClicks);
    return recountsClicks
      ? pairStartMs(this.#startMs, this.#snapshot)
      : snapshotPairStartMs(this.#startMs, this.#snapshot);
  }

  /** Position from which the records must be replayed. */
  get replayStartPosition(): number {
    return this.#snapshot === null ? Number.POSITIVE_INFINITY : this.#snapshot.lastRecord.position;
  }

  /** Whether the snapshot belongs to the opened ledger. If not, the caller must call `discardState` and replay the ledger again. */
  get isConsistentWithLedger(): boolean {
    return this.#snapshot === null || this.#snapshotMatchesLedger;
  }

  /** Discards the snapshot and all other state, so that the state can be computed from the ledger alone. */
  discardState(): void {
    this.#snapshot = null;
    this.#knownSinceDay = firstBookedDay(this.#startMs);
    this.#verticals.clear();
    this.#pairs = new SessionOfferPairs(this.#pairsMax, pairStartMs(this.#startMs, null));
  }

  /** Session-offer pairs of all verticals. */
  get pairs(): SessionOfferPairs {
    return this.#pairs;
  }

  /** Finds the bookings of the vertical and the mode of a session. */
  findBySession(sub: Uint8Array): VerticalBookings | undefined {
    return this.#verticals.get(readVerticalAndModeKey(sub));
  }

  /** Returns the number of offers of the active catalogs that are unavailable for a reason. */
  countUnavailableOffers(reason: UnavailabilityReason, nowMs: number): number {
    let count = 0;
    for (const { availability } of this.#verticals.values()) count += availability?.countOffers(reason, nowMs) ?? 0;
    return count;
  }

  /** Returns the number of offers of an active catalog whose figures are too old (docs/contract.md#outdated-offers). */
  countOutdatedOffers(catalog: CompiledCatalog, nowMs: number): number {
    return this.#getCatalogAvailability(catalog).countOffers('outdated', nowMs);
  }

  /** Returns the availability of the offers of an active catalog. Throws if the catalog is not active. */
  getCatalogAvailability(
    catalog: CompiledCatalog,
  ): Pick<
    CatalogAvailability,
    'countOffersByState' | 'describeLimits' | 'listUnavailabilityReasons' | 'unavailableOffers'
  > {
    return this.#getCatalogAvailability(catalog);
  }

  /** Returns the budgets of an active catalog and their use. */
  sumBudgets(catalog: CompiledCatalog, nowMs: number): Readonly<Record<'day' | 'month', BudgetUse>> {
    return this.#getCatalogAvailability(catalog).sumBudgets(nowMs);
  }

  /** Returns the revenue of the live sessions of a vertical since `resetRevenueTotals`, in micro-dollars. */
  getRevenueTotals(vertical: number): Readonly<Record<RevenueKind, number>> {
    return this.#findOrAddVertical(encodeVerticalAndMode(vertical, 'live')).revenueTotals.micros;
  }

  /** Sets the totals of revenue to 0. Call this method after the stored records were replayed. */
  resetRevenueTotals(): void {
    for (const { revenueTotals } of this.#verticals.values()) revenueTotals.reset();
  }

  /** Returns the offers of an active catalog that responses must not contain. All accounts share the limits of an offer. */
  unavailableOffers(catalog: CompiledCatalog, nowMs: number): UnavailableOffers {
    return this.#getCatalogAvailability(catalog).unavailableOffers(nowMs);
  }

  /** Lists the reasons why an offer is unavailable, as of the last call of `unavailableOffers` for the catalog. */
  listUnavailabilityReasons(catalog: CompiledCatalog, offerIndex: number): readonly UnavailabilityReason[] {
    return this.#getCatalogAvailability(catalog).listUnavailabilityReasons(offerIndex);
  }

  applyLedgerRecord(record: LedgerRecord, position: number): void {
    const [kind, wallMs, sub] = record;
    const isInSnapshot = this.#snapshot !== null && position <= this.#snapshot.lastRecord.position;
    if (isInSnapshot) this.#compareWithSnapshot(record, position);
    else this.#setLastRecord(record, position);
    // Copies the bytes of the sub_id, because the ledger overwrites the original bytes with later records.
    this.#bufferedRecords?.push(record.with(2, Buffer.from(sub)) as unknown as LedgerRecord);
    if (kind === ledgerRecordKind.offersViewed) {
      // Evicts the session-offer pairs of old sessions, whose clicks no longer count.
      this.#pairs.evictOldPairs(wallMs - pairRetentionMs);
      if (this.#verticals.get(readVerticalAndModeKey(sub))?.tracksSessions === true)
        this.#applyRecordToVertical(record, isInSnapshot);
    } else if (
      kind === ledgerRecordKind.offerClicked ||
      kind === ledgerRecordKind.revenueConfirmed ||
      kind === ledgerRecordKind.revenueReversed
    ) {
      this.#applyRecordToVertical(record, isInSnapshot);
    }
  }

  /** Reads the ledger for the earlier clicks on those offers of a new catalog that had no limits before. */
  async loadPastClicks(catalog: CompiledCatalog, nowMs: number, readHistory: LedgerReader): Promise<void> {
    const catalogKey = bookingsKey(catalog);
    const verticalBookings = this.#findOrAddVertical(catalogKey);
    if (catalog.vertical.clicksConfirmRevenue === true) return;
    const bookings = new Map<string, OfferBookings>();
    for (const { id, dailyCap, budget } of catalog.offers) {
      if ((dailyCap === null && budget === null) || verticalBookings.findBookings(id)?.tracksSessions === true)
        continue;
      const offerBookings = new OfferBookings(this.#knownSinceDay);
      offerBookings.tracksSessions = true;
      bookings.set(id, offerBookings);
    }
    if (bookings.size === 0) return;
    const sinceMs = dayStartMs(daysSinceEpoch(nowMs)) - pairRetentionMs;
    const finder = {
      clicksConfirmRevenue: false,
      findBookings: (id: string) => bookings.get(id),
      findOrAddBookings: (id: string) => bookings.get(id) ?? null,
    };
    const isOfCatalog = (record: LedgerRecord): boolean => readVerticalAndModeKey(record[2]) === catalogKey;
    // Collects pairs from the ledger in a separate set, because new clicks and views change `#pairs` at the same time.
    const pairs = new SessionOfferPairs(this.#pairsMax, sinceMs);
    const bufferedRecords: LedgerRecord[] = [];
    this.#bufferedRecords = bufferedRecords;
    try {
      await readHistory(sinceMs, (record) => {
        if (isOfCatalog(record)) applyRecordToBookings(record, finder, pairs, false);
      });
      for (const _ of this.#pairs.addAllPairs(pairs)) await nextTurn();
    } finally {
      this.#bufferedRecords = null;
    }
    for (const record of bufferedRecords) {
      if (isOfCatalog(record)) applyRecordToBookings(record, finder, this.#pairs, false);
    }
    for (const [id, offerBookings] of bookings) verticalBookings.replaceBookings(id, offerBookings);
  }

  /** Activates the limits of a catalog; `nowMs` is the current time. Call `loadPastClicks` first. */
  activateCatalog(catalog: CompiledCatalog, nowMs: number): void {
    this.#findOrAddVertical(bookingsKey(catalog)).activateCatalog(catalog, nowMs);
  }

  /** Restores the limits after a restart: activates the replaced catalogs, oldest first, and then the current catalog. */
  restoreCatalogs(catalog: CompiledCatalog, replaced: readonly ReplacedCatalog[]): void {
    let sinceMs = 0;
    for (const { compiled, replacedMs } of replaced) {
      this.activateCatalog(compiled, sinceMs);
      sinceMs = replacedMs;
    }
    this.activateCatalog(catalog, sinceMs);
  }

  /** Returns the booked revenue after the last applied ledger record. */
  takeSnapshot(nowMs: number): BookedRevenueSnapshot {
    const verticals = [...this.#verticals].map(([key, verticalBookings]) => {
      verticalBookings.deleteOldBookings(nowMs);
      return [key, verticalBookings.toStoredBookings()] as const;
    });
    return { lastRecord: this.#describeLastRecord(), knownSinceDay: this.#knownSinceDay, verticals };
  }

  #getCatalogAvailability(catalog: CompiledCatalog) {
    const availability = this.#verticals.get(bookingsKey(catalog))?.availability;
    if (availability?.catalog !== catalog) throw new Error('catalog is not active');
    return availability;
  }

  #applyRecordToVertical(record: LedgerRecord, isInSnapshot: boolean): void {
    const verticalBookings = this.#findOrAddVertical(readVerticalAndModeKey(record[2]));
    if (record[0] === ledgerRecordKind.offerClicked && !isInSnapshot)
      verticalBookings.clickDistribution.addClick(record[1]);
    const changed = applyRecordToBookings(record, verticalBookings, this.#pairs, isInSnapshot);
    verticalBookings.revenueTotals.addRecord(record, changed !== null);
    if (changed !== null) verticalBookings.availability?.markBookingsChanged(changed.catalogIndex);
  }

  #compareWithSnapshot(record: LedgerRecord, position: number): void {
    if (position !== this.#snapshot!.lastRecord.position) return;
    this.#setLastRecord(record, position);
    this.#snapshotMatchesLedger = isDeepStrictEqual(this.#describeLastRecord(), this.#snapshot!.lastRecord);
  }

  #setLastRecord(record: LedgerRecord, position: number): void {
    this.#lastRecord = { record, position };
    this.#lastSub.set(record[2]);
  }

  #describeLastRecord(): BookedRevenueSnapshot['lastRecord'] {
    const sub = this.#lastSub.toString('hex');
    if (this.#lastRecord === null) return { position: 0, wallMs: 0, sub, crc32: 0 };
    const { record, position } = this.#lastRecord;
    const items = record.map((item) => (item instanceof Uint8Array ? null : item));
    return { position, wallMs: record[1], sub, crc32: crc32(JSON.stringify(items)) };
  }

  #findOrAddVertical(key: number): VerticalBookings {
    return getOrAdd(this.#verticals, key, () => new VerticalBookings(this.#knownSinceDay));
  }
}

/** Clicks of a session count for 24 hours, and the clock may be set back by one hour. */
const pairRetentionMs = bounds.clickAttributionMs + bounds.clockSetBackMsMax;

/**
 * Returns the time from which the ledger must be read to compute the booked revenue and the click distribution. This time is
 * `pairRetentionMs` before the first booked day, because the figures of that day can include clicks of sessions that were created earlier.
 */
function bookedRevenueStartMs(nowMs: number): number {
  return dayStartMs(firstBookedDay(nowMs)) - pairRetentionMs;
}

/**
 * Returns the first UTC day whose clicks the service must apply when it starts: the first day of the month, or the first day from which the
 * click distribution is computed, whichever is earlier.
 */
function firstBookedDay(nowMs: number): number {
  const day = daysSinceEpoch(nowMs - bounds.clockSetBackMsMax);
  return Math.min(monthOfDay(day).firstDay, day - bounds.clickDistributionDays);
}

/**
 * Returns the time from which session-offer pairs are collected. The service needs the pairs of all clicks that the snapshot does not
 * contain. If an offer got its first limit after the snapshot, the start counts the clicks of the current day again. Therefore, the service
 * also needs the pairs of these clicks.
 */
function pairStartMs(nowMs: number, snapshot: BookedRevenueSnapshot | null): number {
  if (snapshot === null) return bookedRevenueStartMs(nowMs);
  const day = daysSinceEpoch(nowMs - bounds.clockSetBackMsMax);
  return Math.min(snapshotPairStartMs(nowMs, snapshot), dayStartMs(day) - pairRetentionMs);
}

/** Returns the earliest possible creation time of the sessions whose clicks may be missing in the snapshot. */
function snapshotPairStartMs(nowMs: number, { lastRecord }: BookedRevenueSnapshot): number {
  return Math.min(nowMs, lastRecord.wallMs) - pairRetentionMs;
}

function bookingsKey({ vertical, mode }: CompiledCatalog): number {
  return encodeVerticalAndMode(vertical.number, mode);
}
