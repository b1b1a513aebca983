import { bounds } from '../bounds.ts';
import { type ClickDecision, defaultClickDecision } from '../clicks/click-decision.ts';
import { isWithinAttributionWindow } from '../clicks/click-rules.ts';
import { daysSinceEpoch } from '../domain/calendar.ts';
import { decodeSubId, readVerticalAndModeKey } from '../ids/sub-id.ts';
import { isCountedClick } from './apply-click-record.ts';
import type { LedgerBookings } from './ledger-bookings.ts';
import type { OfferBookings } from './offer-bookings.ts';
import type { SessionOfferPairs } from './session-offer-pairs.ts';
import type { SharedLimits } from './shared-limits.ts';

/**
 * Decides whether a click books revenue (docs/contract.md#daily-caps, docs/contract.md#budgets-and-pacing,
 * docs/contract.md#clicks-that-are-not-booked).
 *
 * A click is checked, recorded and counted in one turn of the event loop, so that concurrent clicks cannot exceed a limit. The click's
 * record contains the decision, so analytics do not check the limits again.
 *
 * If several shards share the limits, a click can use only what its shard was granted. The caller then waits while `needsGrant` is true.
 */
export class ClickDecider {
  readonly #bookings: LedgerBookings;
  readonly #sharedLimits: Pick<SharedLimits, 'findReachedLimit' | 'needsGrant' | 'waitForRetry'> | null;

  /** @param sharedLimits null if this process is the only one that books clicks */
  constructor(
    bookings: LedgerBookings,
    sharedLimits: Pick<SharedLimits, 'findReachedLimit' | 'needsGrant' | 'waitForRetry'> | null = null,
  ) {
    this.#bookings = bookings;
    this.#sharedLimits = sharedLimits;
  }

  /**
   * Whether the shard must get a part of a limit before `decideClick` can book the click. Asks for it, at most once per retry interval.
   * Always false without other shards.
   */
  needsGrant(sub: Uint8Array, offerId: string, clickedMs: number, valueMicros: number): boolean {
    if (this.#sharedLimits === null) return false;
    const offerBookings = this.#bookings.findBySession(sub)?.findBookings(offerId);
    if (offerBookings?.hasLimits !== true) return false;
    if (!isCountedClick(sub, clickedMs, offerBookings, this.#bookings.pairs)) return false;
    const offer = { scope: readVerticalAndModeKey(sub), offerId, offerBookings };
    return this.#sharedLimits.needsGrant(offer, daysSinceEpoch(clickedMs), valueMicros, 1);
  }

  /** As `needsGrant`, for the revenue of a click that a confirmation restores. */
  needsGrantForRestoredClick(sub: Uint8Array, offerId: string, clickedMs: number, valueMicros: number): boolean {
    if (this.#sharedLimits === null) return false;
    const offerBookings = this.#bookings.findBySession(sub)?.findBookings(offerId);
    if (offerBookings === undefined || offerBookings.budget === null) return false;
    const offer = { scope: readVerticalAndModeKey(sub), offerId, offerBookings };
    return this.#sharedLimits.needsGrant(offer, daysSinceEpoch(clickedMs), valueMicros, 0);
  }

  /** Waits until `needsGrant` can ask again. */
  async waitForGrant(): Promise<void> {
    await this.#sharedLimits?.waitForRetry();
  }

  /**
   * Decides whether a click books revenue. The caller must append the click's record in the same turn of the event loop.
   *
   * @param valueMicros revenue of the click if the click books revenue
   */
  decideClick(sub: Uint8Array, offerId: string, clickedMs: number, valueMicros: number): ClickDecision {
    const verticalBookings = this.#bookings.findBySession(sub);
    const offerBookings = verticalBookings?.findBookings(offerId);
    if (verticalBookings === undefined || offerBookings === undefined) return defaultClickDecision;
    const { clicksConfirmRevenue } = verticalBookings;
    if (!offerBookings.hasLimits && !clicksConfirmRevenue) return defaultClickDecision;
    const day = daysSinceEpoch(clickedMs);
    const pairs = this.#bookings.pairs;
    if (!isCountedClick(sub, clickedMs, offerBookings, pairs)) {
      const hasValue = !clicksConfirmRevenue && offerBookings.findReachedLimit(day, valueMicros) === null;
      return { hasValue, isBooked: null, unbookedReason: null };
    }
    const limit = this.#findReachedLimit(sub, offerId, offerBookings, day, valueMicros);
    if (!clicksConfirmRevenue) {
      return { hasValue: limit === null, isBooked: limit === null, unbookedReason: limit };
    }
    if (isTooFastClick(sub, clickedMs, offerBookings, pairs)) {
      // Only the first too fast click of a session on an offer is recorded. The records of further too fast clicks would use up the
      // session's limit of recorded clicks.
      return pairs.getPairState(sub, offerBookings.randomId) === 'too_fast'
        ? { hasValue: false, isBooked: null, unbookedReason: null, needsRecord: false }
        : { hasValue: false, isBooked: false, unbookedReason: 'too_fast' };
    }
    const hasTooManyOffers = pairs.getBookedOfferCountOfSession(sub) >= bounds.offersBookedPerSessionMax;
    const unbookedReason = hasTooManyOffers ? 'too_many_offers' : limit;
    const isBooked = unbookedReason === null;
    return { hasValue: isBooked, isBooked, unbookedReason, confirmsRevenue: isBooked };
  }

  /**
   * Returns the revenue to book when a confirmation restores a click that has no record: `valueMicros`, or 0 if this amount does not fit
   * into the budget of the offer. The caller must append the record of the confirmation in the same turn of the event loop.
   */
  computeRestoredClickRevenueMicros(
    sub: Uint8Array,
    offerId: string,
    clickedMs: number,
    nowMs: number,
    valueMicros: number,
  ): number {
    const offerBookings = this.#bookings.findBySession(sub)?.findBookings(offerId);
    if (offerBookings === undefined || offerBookings.budget === null) return valueMicros;
    // After the attribution window, the service no longer knows whether the click has a record, or whether a confirmation restored it.
    if (!isWithinAttributionWindow(nowMs, decodeSubId(sub).createdMs)) return 0;
    const day = daysSinceEpoch(clickedMs);
    const fits =
      this.#sharedLimits === null
        ? offerBookings.fitsBudget(day, valueMicros)
        : this.#findReachedLimit(sub, offerId, offerBookings, day, valueMicros, 0) === null;
    return fits ? valueMicros : 0;
  }

  #findReachedLimit(
    sub: Uint8Array,
    offerId: string,
    offerBookings: OfferBookings,
    day: number,
    valueMicros: number,
    clicks = 1,
  ): 'cap' | 'budget' | null {
    if (this.#sharedLimits === null) return offerBookings.findReachedLimit(day, valueMicros);
    const offer = { scope: readVerticalAndModeKey(sub), offerId, offerBookings };
    return this.#sharedLimits.findReachedLimit(offer, day, valueMicros, clicks);
  }
}

/**
 * Whether a click came less than `clickDelayMsMin` after the first answer that contained the offer. Returns false if the time of the first
 * answer is not known.
 */
function isTooFastClick(
  sub: Uint8Array,
  clickedMs: number,
  { randomId }: OfferBookings,
  pairs: SessionOfferPairs,
): boolean {
  const shownMs = pairs.getFirstShownMs(sub, randomId);
  // A negative difference means that the wall clock was set back.
  return shownMs !== null && clickedMs >= shownMs && clickedMs - shownMs < bounds.clickDelayMsMin;
}
