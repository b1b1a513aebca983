import { bounds } from '../bounds.ts';
import type { CompiledCatalog } from '../catalogs/compile-catalog.ts';
import type { CatalogSummary, OfferSummary } from '../catalogs/replaced-catalog.ts';
import { daysSinceEpoch, monthOfDay } from '../domain/calendar.ts';
import type { Vertical } from '../domain/vertical.ts';
import { CatalogAvailability } from './catalog-availability.ts';
import { ClickDistribution, type DailyClickCounts } from './click-distribution.ts';
import { OfferBookings, type StoredOfferBookings } from './offer-bookings.ts';
import { RevenueTotals } from './revenue-totals.ts';

type OfferLimits = Pick<OfferSummary, 'id' | 'dailyCap' | 'budget' | 'clickMicros'>;

/** Bookings of some offers of one vertical and mode in a snapshot. */
export type StoredBookingsList = readonly (readonly [offerId: string, offerBookings: StoredOfferBookings])[];

/** Bookings of the offers of one vertical and mode, and the availability of the offers in the active catalog. */
export class VerticalBookings {
  readonly clickDistribution = new ClickDistribution();
  readonly revenueTotals = new RevenueTotals();
  /** Availability of the active catalog's offers; null before the first activation. */
  availability: CatalogAvailability | null = null;
  /** Whether clicks of the vertical confirm their own revenue, so that every click needs a decision. */
  clicksConfirmRevenue = false;
  /** Whether `OfferBookings.tracksSessions` is true for some of the bookings. */
  tracksSessions = false;
  /** Position of the last ledger record that `clickDistribution` contained when it was captured for the snapshot. */
  restoredPosition = 0;
  /** Number of offers in the active catalog. */
  listedOffers = 0;
  readonly #bookings = new Map<string, OfferBookings>();
  readonly #knownSinceDay: number;

  /** @param knownSinceDay see `OfferBookings` */
  constructor(knownSinceDay: number) {
    this.#knownSinceDay = knownSinceDay;
  }

  findBookings(offerId: string): OfferBookings | undefined {
    return this.#bookings.get(offerId);
  }

  /**
   * Returns the bookings of an offer that was shown or clicked, or null if there are too many bookings. Adds bookings if the offer has none
   * because the offer was removed from the catalog.
   */
  findOrAddBookings(offerId: string): OfferBookings | null {
    const offerBookings = this.#bookings.get(offerId);
    if (offerBookings !== undefined) return offerBookings;
    if (this.#bookings.size >= this.listedOffers + bounds.removedOfferBookingsMax) return null;
    return this.#addBookings(offerId);
  }

  /** Returns the bookings of all offers, by the ids of the offers. */
  get bookings(): ReadonlyMap<string, OfferBookings> {
    return this.#bookings;
  }

  /** Replaces the bookings of an offer with bookings that track sessions. */
  replaceBookings(offerId: string, offerBookings: OfferBookings): void {
    const old = this.#bookings.get(offerId);
    if (old !== undefined) offerBookings.copyRevenueFrom(old);
    this.#bookings.set(offerId, offerBookings);
    this.tracksSessions = true;
  }

  /**
   * Applies the limits of a new active catalog. The limits of an offer that was removed from the catalog apply for another 28 hours
   * (docs/contract.md#daily-caps).
   */
  activateCatalog(catalog: CompiledCatalog, nowMs: number): void {
    const limits = catalog.offers.map(({ id, dailyCap, budget }, index) => {
      return { id, dailyCap, budget, clickMicros: catalog.computeClickValueRange(index) };
    });
    const listed = this.#applyLimits(catalog.vertical, limits, nowMs);
    this.availability = new CatalogAvailability(catalog, listed, this.clickDistribution);
    this.deleteOldBookings(nowMs);
  }

  /**
   * As `activateCatalog`, for a catalog that was replaced before the start. Another catalog must be activated afterwards. Deletes no
   * bookings, because a later catalog may contain an offer that is missing in this one.
   */
  restoreReplacedCatalog(vertical: Vertical, { offers }: CatalogSummary, nowMs: number): void {
    this.#applyLimits(vertical, offers, nowMs);
  }

  /** Returns the bookings of the offers, in the order of `limits`. */
  #applyLimits(vertical: Vertical, limits: readonly OfferLimits[], nowMs: number): OfferBookings[] {
    this.clicksConfirmRevenue = vertical.clicksConfirmRevenue === true;
    this.listedOffers = limits.length;
    for (const offerBookings of this.#bookings.values()) offerBookings.catalogIndex = -1;
    const listed = limits.map(({ id, dailyCap, budget, clickMicros }, catalogIndex) => {
      const offerBookings = this.#bookings.get(id) ?? this.#addBookings(id);
      offerBookings.dailyCap = dailyCap;
      offerBookings.budget = budget;
      offerBookings.removedMs = null;
      offerBookings.catalogIndex = catalogIndex;
      offerBookings.clickMicros = clickMicros;
      offerBookings.tracksSessions = this.clicksConfirmRevenue || offerBookings.hasLimits;
      return offerBookings;
    });
    for (const offerBookings of this.#bookings.values()) {
      if (offerBookings.catalogIndex < 0) offerBookings.removedMs ??= nowMs;
    }
    return listed;
  }

  /** Ends the limits of offers that were removed 28 hours ago, and deletes the bookings of removed offers without recent revenue. */
  deleteOldBookings(nowMs: number): void {
    const month = monthOfDay(daysSinceEpoch(nowMs - bounds.clockSetBackMsMax)).number;
    for (const [id, offerBookings] of this.#bookings) {
      if (offerBookings.catalogIndex >= 0 || offerBookings.removedMs === null) continue;
      if (nowMs - offerBookings.removedMs < bounds.replacedCatalogRetentionMs) continue;
      Object.assign(offerBookings, { dailyCap: null, budget: null, tracksSessions: this.clicksConfirmRevenue });
      if (!offerBookings.hasBookingsSinceMonth(month)) this.#bookings.delete(id);
    }
    this.#updateTracksSessions();
  }

  /**
   * Lists the bookings in slices of at most `bounds.bookingsPerChunk` offers, without offers that have neither figures nor tracked sessions.
   *
   * @param untracked offers whose sessions are stored as not tracked
   */
  *listStoredBookings(untracked: ReadonlySet<string>): Generator<StoredBookingsList> {
    let slice: (readonly [string, StoredOfferBookings])[] = [];
    let visited = 0;
    for (const [id, offerBookings] of this.#bookings) {
      const tracksSessions = offerBookings.tracksSessions && !untracked.has(id);
      if (offerBookings.hasFigures || tracksSessions) slice.push([id, offerBookings.toStoredBookings(tracksSessions)]);
      if (++visited % bounds.bookingsPerChunk !== 0) continue;
      yield slice;
      slice = [];
    }
    yield slice;
  }

  restoreClickDistribution(clickCounts: readonly DailyClickCounts[], position: number): void {
    for (const day of clickCounts) this.clickDistribution.restoreDailyClickCounts(day);
    this.restoredPosition = position;
  }

  restoreBookings(bookings: StoredBookingsList, position: number): void {
    for (const [id, stored] of bookings) {
      (this.#bookings.get(id) ?? this.#addBookings(id)).restoreBookings(stored, position);
    }
    this.#updateTracksSessions();
  }

  #addBookings(offerId: string): OfferBookings {
    const offerBookings = new OfferBookings(this.#knownSinceDay);
    offerBookings.tracksSessions = this.clicksConfirmRevenue;
    this.tracksSessions ||= this.clicksConfirmRevenue;
    this.#bookings.set(offerId, offerBookings);
    return offerBookings;
  }

  #updateTracksSessions(): void {
    this.tracksSessions = [...this.#bookings.values()].some(({ tracksSessions }) => tracksSessions);
  }
}
