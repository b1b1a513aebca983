import { unbookedReasonIndexes } from '../clicks/click-decision.ts';
import { classifyClick, isWithinAttributionWindow } from '../clicks/click-rules.ts';
import { decodeSubId } from '../ids/sub-id.ts';
import { type LedgerRecord, ledgerRecordKind, type OfferClickedRecord } from '../ledger/ledger-record.ts';
import type { OfferBookings } from './offer-bookings.ts';
import type { SessionOfferPairs } from './session-offer-pairs.ts';
import type { VerticalBookings } from './vertical-bookings.ts';

/** Finds the bookings to which a record applies. `clicksConfirmRevenue`: see `Vertical`. */
type BookingsFinder = Pick<VerticalBookings, 'findBookings' | 'findOrAddBookings' | 'clicksConfirmRevenue'>;

/**
 * Applies a ledger record to the bookings and the session-offer pairs of a vertical and mode. Returns the bookings whose figures changed, or
 * null.
 *
 * @param position position of the record; figures that were restored from a snapshot may already contain it, so that only the pairs change
 */
export function applyRecordToBookings(
  record: LedgerRecord,
  position: number,
  verticalBookings: BookingsFinder,
  pairs: SessionOfferPairs,
): OfferBookings | null {
  switch (record[0]) {
    case ledgerRecordKind.offersViewed: {
      const [, wallMs, sub, , offerIds] = record;
      for (const id of offerIds) {
        const offerBookings = verticalBookings.findBookings(id);
        if (offerBookings?.tracksSessions === true) pairs.markShown(sub, offerBookings.randomId, wallMs);
      }
      return null;
    }
    case ledgerRecordKind.offerClicked: {
      const offerBookings = verticalBookings.findOrAddBookings(record[4]);
      if (offerBookings === null) return null;
      return applyClick(record, position, offerBookings, verticalBookings.clicksConfirmRevenue, pairs)
        ? offerBookings
        : null;
    }
    case ledgerRecordKind.revenueConfirmed: {
      const [, wallMs, sub, offerId, , , , , clickedMs, clickValueMicros] = record;
      const offerBookings = verticalBookings.findBookings(offerId);
      if (offerBookings === undefined || clickedMs === null || clickValueMicros === null) return null;
      const { createdMs, mode } = decodeSubId(sub);
      const isRecent = isWithinAttributionWindow(wallMs, createdMs);
      // A confirmation can create a missing click (docs/contract.md#clicks-without-a-record), which does not count towards the daily cap.
      // Later clicks on the offer in the same session count as repeats.
      const state = pairs.getPairState(sub, offerBookings.randomId);
      if (state === 'clicked' || (state === 'none' && (offerBookings.tracksSessions || !isRecent))) return null;
      pairs.markClicked(sub, offerBookings.randomId);
      if (position <= offerBookings.restoredPosition || mode === 'test' || !isRecent) return null;
      offerBookings.addRevenue(clickedMs, clickValueMicros);
      return offerBookings;
    }
  }
  return null;
}

/** Applies the record of a click. Returns whether the figures of the bookings changed. */
function applyClick(
  [, clickedMs, sub, , , , valueMicros, isBooked, reason]: OfferClickedRecord,
  position: number,
  offerBookings: OfferBookings,
  clicksConfirmRevenue: boolean,
  pairs: SessionOfferPairs,
): boolean {
  const { randomId } = offerBookings;
  // The decision `isBooked` in the click's record is final. `isBooked` is undefined if the click needed no decision.
  if (isBooked === null || pairs.getPairState(sub, randomId) === 'clicked') return false;
  if (isBooked === false && reason === unbookedReasonIndexes.too_fast) {
    pairs.markClickedTooFast(sub, randomId);
    return false;
  }
  if (isBooked === undefined && !isCountedClick(sub, clickedMs, offerBookings, pairs)) return false;
  pairs.markClicked(sub, randomId);
  if (isBooked !== false && clicksConfirmRevenue) pairs.incrementBookedOfferCount(sub);
  if (position <= offerBookings.restoredPosition) return false;
  if (isBooked !== false) offerBookings.addBookedClick(clickedMs, valueMicros);
  else if (reason === unbookedReasonIndexes.budget) offerBookings.markClickRefused(clickedMs);
  else return false;
  return true;
}

/**
 * Whether a click counts by docs/contract.md#counting-clicks. Assumes that the offer was shown if the views of the offer or of the session
 * are not stored.
 */
export function isCountedClick(
  sub: Uint8Array,
  clickedMs: number,
  { randomId, tracksSessions }: OfferBookings,
  pairs: SessionOfferPairs,
): boolean {
  const { createdMs } = decodeSubId(sub);
  const state = pairs.getPairState(sub, randomId);
  const wasShown = state !== 'none' || !tracksSessions || !pairs.hasAllPairsSince(createdMs);
  return classifyClick({ wasShown, wasClicked: state === 'clicked', createdMs }, clickedMs) === 'counted';
}
