import type { CompiledCatalog } from '../catalogs/compile-catalog.ts';
import type { UnavailableOffers } from '../matching/matcher.ts';
import type { UnavailabilityReason } from './catalog-availability.ts';
import type { LedgerBookings } from './ledger-bookings.ts';

/**
 * Decides which offers are unavailable (docs/contract.md#daily-caps, docs/contract.md#budgets-and-pacing). All accounts share the limits of
 * an offer.
 */
export class OfferAvailability {
  readonly #bookings: LedgerBookings;

  constructor(bookings: LedgerBookings) {
    this.#bookings = bookings;
  }

  /** Returns the number of offers of the active catalogs that are unavailable for a reason. */
  countUnavailableOffers(reason: UnavailabilityReason, nowMs: number): number {
    let count = 0;
    for (const { availability } of this.#bookings.verticals) count += availability?.countOffers(reason, nowMs) ?? 0;
    return count;
  }

  /** Returns the number of offers of an active catalog whose figures are too old (docs/contract.md#outdated-offers). */
  countOutdatedOffers(catalog: CompiledCatalog, nowMs: number): number {
    return this.#getCatalogAvailability(catalog).countOffers('outdated', nowMs);
  }

  /** Returns the offers of an active catalog that responses must not contain. */
  unavailableOffers(catalog: CompiledCatalog, nowMs: number): UnavailableOffers {
    return this.#getCatalogAvailability(catalog).unavailableOffers(nowMs);
  }

  /** Lists the reasons why an offer is unavailable, as of the last call of `unavailableOffers` for the catalog. */
  listUnavailabilityReasons(catalog: CompiledCatalog, offerIndex: number): readonly UnavailabilityReason[] {
    return this.#getCatalogAvailability(catalog).listUnavailabilityReasons(offerIndex);
  }

  #getCatalogAvailability(catalog: CompiledCatalog) {
    const availability = this.#bookings.findByCatalog(catalog)?.availability;
    if (availability?.catalog !== catalog) throw new Error('catalog is not active');
    return availability;
  }
}
