import { setImmediate as nextTurn } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import type { CompiledCatalog } from '../catalogs/compile-catalog.ts';
import type { OfferSummary, ReplacedSummary } from '../catalogs/replaced-catalog.ts';
import { dayStartMs, daysSinceEpoch, monthOfDay } from '../domain/calendar.ts';
import { getOrAdd } from '../domain/get-or-add.ts';
import {
  type CapturedPiece,
  type LedgerEnd,
  OutdatedPartError,
  type SnapshotPart,
  type StoredPiece,
} from '../domain/snapshot-part.ts';
import { encodeVerticalAndMode, readVerticalAndModeKey } from '../ids/sub-id.ts';
import type { LedgerSubscriber } from '../ledger/ledger.ts';
import { type LedgerRecord, ledgerRecordKind } from '../ledger/ledger-record.ts';
import type { UnavailableOffers } from '../matching/matcher.ts';
import { applyRecordToBookings } from './apply-click-record.ts';
import type { BudgetUse, CatalogAvailability, UnavailabilityReason } from './catalog-availability.ts';
import type { DailyClickCounts } from './click-distribution.ts';
import { OfferBookings } from './offer-bookings.ts';
import type { RevenueKind } from './revenue-totals.ts';
import { SessionOfferPairs } from './session-offer-pairs.ts';
import { type StoredBookingsList, VerticalBookings } from './vertical-bookings.ts';

/** First line of the bookings in a snapshot. */
interface StoredHead {
  /** First UTC day since which the bookings contain all clicks. */
  readonly knownSinceDay: number;
  /** Creation time since which the session-offer pairs of all sessions are stored, in Unix milliseconds. */
  readonly pairsSinceMs: number;
}

/** Further line of the bookings in a snapshot: figures of a vertical and mode, captured when the last ledger record had this position. */
export type StoredFigures = readonly [
  verticalAndMode: number,
  position: number,
  bookings: StoredBookingsList,
  /** Clicks from which the click distribution is computed; absent unless this is the first line of the vertical. */
  clickCounts?: readonly DailyClickCounts[],
];

/** Called after the figures of an offer changed. `scope` is the vertical and mode, see `encodeVerticalAndMode`. */
type OfferChangeListener = (scope: number, offerId: string, day: number) => void;

/** Part of a catalog from which `loadPastClicks` reads the limits of the offers. */
interface CatalogLimits extends Pick<CompiledCatalog, 'vertical' | 'mode'> {
  readonly offers: readonly Pick<OfferSummary, 'id' | 'dailyCap' | 'budget'>[];
}

/** Passes the ledger records since `sinceMs` to `visit`, in order. May omit records that are appended while the function runs. */
export type LedgerReader = (sinceMs: number, visit: (record: LedgerRecord, position: number) => void) => Promise<void>;

/**
 * Bookings of the offers of all verticals, and the session-offer pairs of recent sessions, computed from the ledger. Live sessions and test
 * sessions are counted separately.
 *
 * A restart restores the bookings and the pairs from a snapshot and the later ledger records. Without a usable snapshot, a restart computes
 * them from the ledger records of the month (docs/contributing/decisions/budgets.md).
 *
 * If an offer gets its first limit while the service runs, `loadPastClicks` reads the offer's earlier clicks from the ledger.
 */
export class LedgerBookings implements LedgerSubscriber, SnapshotPart {
  readonly name = 'bookings';
  readonly #verticals = new Map<number, VerticalBookings>();
  readonly #pairsMax: number;
  readonly #startMs: number;
  /** First UTC day of the period in which the bookings contain all clicks. */
  #knownSinceDay: number;
  #pairs: SessionOfferPairs;
  #isRestored = false;
  /** Number of applied records that can change figures, which identifies the content of a snapshot. */
  #changes = 0;
  /** Offers whose sessions are tracked since the start of the last snapshot, so that it may lack their earlier session-offer pairs. */
  readonly #newlyTracked = new Set<string>();
  /** New ledger records, buffered until `loadPastClicks` has read the older records; null if `loadPastClicks` is not running. */
  #bufferedRecords: LedgerRecord[] | null = null;
  #onOfferChanged: OfferChangeListener | null = null;

  /** @param nowMs current time, which determines the first ledger record that must be replayed */
  constructor(nowMs: number, { pairsMax = bounds.sessionOfferPairsMax }: { readonly pairsMax?: number } = {}) {
    this.#startMs = nowMs;
    this.#pairsMax = pairsMax;
    this.#knownSinceDay = firstBookedDay(nowMs);
    this.#pairs = new SessionOfferPairs(pairsMax, bookedRevenueStartMs(nowMs));
  }

  /** Whether the bookings were restored from a snapshot. */
  get isRestored(): boolean {
    return this.#isRestored;
  }

  /** Start of the current month or 15 days ago, whichever is earlier; infinity after `restore`. */
  get replayStartTimeMs(): number {
    return this.#isRestored ? Number.POSITIVE_INFINITY : bookedRevenueStartMs(this.#startMs);
  }

  /** Session-offer pairs of all verticals. */
  get pairs(): SessionOfferPairs {
    return this.#pairs;
  }

  /** Sets the listener that is called after each record that changes the figures of an offer. */
  setOfferChangeListener(listener: OfferChangeListener): void {
    this.#onOfferChanged = listener;
  }

  /** Bookings by vertical and mode, see `encodeVerticalAndMode`. */
  get verticals(): ReadonlyMap<number, VerticalBookings> {
    return this.#verticals;
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
    // Copies the bytes of the sub_id, because the ledger overwrites the original bytes with later records.
    this.#bufferedRecords?.push(record.with(2, Buffer.from(sub)) as unknown as LedgerRecord);
    if (kind === ledgerRecordKind.offersViewed) {
      // Evicts the session-offer pairs of old sessions, whose clicks no longer count.
      this.#pairs.evictOldPairs(wallMs - pairRetentionMs);
      if (this.#verticals.get(readVerticalAndModeKey(sub))?.tracksSessions === true)
        this.#applyRecordToVertical(record, position);
    } else if (
      kind === ledgerRecordKind.offerClicked ||
      kind === ledgerRecordKind.revenueConfirmed ||
      kind === ledgerRecordKind.revenueReversed
    ) {
      this.#changes++;
      this.#applyRecordToVertical(record, position);
    }
  }

  /** Reads the ledger for the earlier clicks on those offers of a new catalog that had no limits before. */
  async loadPastClicks(catalog: CatalogLimits, nowMs: number, readHistory: LedgerReader): Promise<void> {
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
      await readHistory(sinceMs, (record, position) => {
        if (isOfCatalog(record)) applyRecordToBookings(record, position, finder, pairs);
      });
      for (const _ of this.#pairs.addAllPairs(pairs)) await nextTurn();
    } finally {
      this.#bufferedRecords = null;
    }
    for (const record of bufferedRecords) {
      if (isOfCatalog(record)) applyRecordToBookings(record, Number.POSITIVE_INFINITY, finder, this.#pairs);
    }
    for (const [id, offerBookings] of bookings) {
      verticalBookings.replaceBookings(id, offerBookings);
      this.#newlyTracked.add(id);
    }
    this.#changes++;
  }

  /** Activates the limits of a catalog; `nowMs` is the current time. Call `loadPastClicks` first. */
  activateCatalog(catalog: CompiledCatalog, nowMs: number): void {
    this.#findOrAddVertical(bookingsKey(catalog)).activateCatalog(catalog, nowMs);
  }

  /** Prepares the bookings of a catalog that is activated after the records of the ledger are applied. */
  prepareCatalog(catalog: CompiledCatalog): void {
    const { clicksConfirmRevenue } = catalog.vertical;
    Object.assign(this.#findOrAddVertical(bookingsKey(catalog)), {
      clicksConfirmRevenue: clicksConfirmRevenue === true,
      listedOffers: catalog.offers.length,
    });
  }

  /** Restores the limits after a restart: activates the replaced catalogs, oldest first, and then the current catalog. */
  restoreCatalogs(catalog: CompiledCatalog, replaced: readonly ReplacedSummary[]): void {
    let sinceMs = 0;
    const verticalBookings = this.#findOrAddVertical(bookingsKey(catalog));
    for (const { summary, replacedMs } of replaced) {
      verticalBookings.restoreReplacedCatalog(catalog.vertical, summary, sinceMs);
      sinceMs = replacedMs;
    }
    this.activateCatalog(catalog, sinceMs);
  }

  /** Captures the pairs first, so that the figures contain all records of the pairs. */
  *capture(ledger: LedgerEnd, nowMs: number): Generator<CapturedPiece> {
    this.#newlyTracked.clear();
    yield* this.#pairs.capture(ledger);
    const head: StoredHead = { knownSinceDay: this.#knownSinceDay, pairsSinceMs: this.#pairs.completeSinceMs };
    for (const verticalBookings of this.#verticals.values()) verticalBookings.deleteOldBookings(nowMs);
    const id = `figures-${this.#changes}-${head.pairsSinceMs}-${this.#newlyTracked.size}`;
    yield { id, chunks: () => this.#encodeFigures(head, ledger) };
  }

  /** Restores the bookings of all verticals, or throws. Call this method before a catalog is activated. */
  restore(pieces: Iterable<StoredPiece>): void {
    try {
      this.#restorePieces(pieces);
    } catch (error) {
      this.#verticals.clear();
      this.#knownSinceDay = firstBookedDay(this.#startMs);
      this.#pairs = new SessionOfferPairs(this.#pairsMax, bookedRevenueStartMs(this.#startMs));
      throw error;
    }
    this.#isRestored = true;
  }

  #restorePieces(pieces: Iterable<StoredPiece>): void {
    const pairs: Buffer[] = [];
    let lines: string[] = [];
    for (const { id, bytes } of pieces) {
      if (id.startsWith('pairs')) pairs.push(bytes);
      else lines = bytes.toString().trimEnd().split('\n');
    }
    const head: StoredHead = JSON.parse(lines.shift()!);
    // A snapshot that was written while the clock was ahead does not contain the figures of the current month.
    if (head.knownSinceDay > firstBookedDay(this.#startMs)) throw new OutdatedPartError('the clock was set back');
    this.#knownSinceDay = head.knownSinceDay;
    this.#pairs = new SessionOfferPairs(this.#pairsMax, head.pairsSinceMs);
    for (const bytes of pairs) this.#pairs.restoreTables(bytes);
    for (const line of lines) {
      const [key, position, bookings, clickCounts]: StoredFigures = JSON.parse(line);
      this.#findOrAddVertical(key).restoreBookings(bookings, position);
      if (clickCounts !== undefined) this.#findOrAddVertical(key).restoreClickDistribution(clickCounts, position);
    }
  }

  *#encodeFigures(head: StoredHead, ledger: LedgerEnd): Generator<Uint8Array> {
    const encode = (line: StoredHead | StoredFigures) => Buffer.from(`${JSON.stringify(line)}\n`);
    yield encode(head);
    for (const [key, verticalBookings] of this.#verticals) {
      const clickCounts = verticalBookings.clickDistribution.listDays();
      yield encode([key, ledger.lastAppendedPosition, [], clickCounts]);
      for (const bookings of verticalBookings.listStoredBookings(this.#newlyTracked)) {
        yield encode([key, ledger.lastAppendedPosition, bookings]);
      }
    }
  }

  #getCatalogAvailability(catalog: CompiledCatalog) {
    const availability = this.#verticals.get(bookingsKey(catalog))?.availability;
    if (availability?.catalog !== catalog) throw new Error('catalog is not active');
    return availability;
  }

  #applyRecordToVertical(record: LedgerRecord, position: number): void {
    const verticalBookings = this.#findOrAddVertical(readVerticalAndModeKey(record[2]));
    if (record[0] === ledgerRecordKind.offerClicked && position > verticalBookings.restoredPosition)
      verticalBookings.clickDistribution.addClick(record[1]);
    // The restored figures also contain all records that the restored pairs contain.
    if (this.#pairs.hasRestoredRecord(record[2], position)) return;
    const changed = applyRecordToBookings(record, position, verticalBookings, this.#pairs);
    verticalBookings.revenueTotals.addRecord(record, changed !== null);
    if (changed === null) return;
    verticalBookings.availability?.markBookingsChanged(changed.catalogIndex);
    this.#notifyOfferChange(record);
  }

  #notifyOfferChange(record: LedgerRecord): void {
    if (this.#onOfferChanged === null) return;
    const scope = readVerticalAndModeKey(record[2]);
    if (record[0] === ledgerRecordKind.offerClicked) this.#onOfferChanged(scope, record[4], daysSinceEpoch(record[1]));
    // The figures change on the day of the click that the confirmation restored.
    if (record[0] === ledgerRecordKind.revenueConfirmed)
      this.#onOfferChanged(scope, record[3], daysSinceEpoch(record[8]!));
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

function bookingsKey({ vertical, mode }: Pick<CompiledCatalog, 'vertical' | 'mode'>): number {
  return encodeVerticalAndMode(vertical.number, mode);
}
