import { bounds } from '../bounds.ts';
import { type ClickDecision, defaultClickDecision } from '../clicks/click-decision.ts';
import { isWithinAttributionWindow } from '../clicks/click-rules.ts';
import { daysSinceEpoch } from '../domain/calendar.ts';
import { decodeSubId } from '../ids/sub-id.ts';
import { isCountedClick } from './apply-click-record.ts';
import type { LedgerBookings } from './ledger-bookings.ts';
import type { OfferBookings } from './offer-bookings.ts';
import type { SessionOfferPairs } from './session-offer-pairs.ts';

/**
 * Decides whether a click books revenue (docs/contract.md#daily-caps, docs/contract.md#budgets-and-pacing,
 * docs/contract.md#clicks-that-are-not-booked).
 *
 * A click is checked, recorded and counted in one turn of the event loop, so that concurrent clicks cannot exceed a limit. The click's
 * record contains the decision, so analytics do not check the limits again.
 */
export class ClickDecider {
  readonly #bookings: LedgerBookings;

  constructor(bookings: LedgerBookings) {
    this.#bookings = bookings;
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
    const limit = offerBookings.hasReachedCap(day)
      ? 'cap'
      : offerBookings.fitsBudget(day, valueMicros)
        ? null
        : 'budget';
    const pairs = this.#bookings.pairs;
    if (!isCountedClick(sub, clickedMs, offerBookings, pairs)) {
      return { hasValue: limit === null && !clicksConfirmRevenue, isBooked: null, unbookedReason: null };
    }
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
    return offerBookings.fitsBudget(daysSinceEpoch(clickedMs), valueMicros) ? valueMicros : 0;
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
