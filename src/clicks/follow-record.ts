import { bounds } from '../bounds.ts';
import { dayOf } from '../domain/calendar.ts';
import { type LedgerRecord, type OfferClicked, recordKind } from '../events/ledger-record.ts';
import { decodeSubId } from '../sessions/sub-id.ts';
import type { CappedOffer } from './capped-offer.ts';
import type { SessionPairs } from './session-pairs.ts';

/**
 * Applies a record of the ledger to those of these offers that it names, by the rules of docs/contract.md#counting-clicks.
 * Tells whether it has an offer of the catalog in use closed.
 */
export function followRecord(
  record: LedgerRecord,
  offers: ReadonlyMap<string, CappedOffer>,
  pairs: SessionPairs,
): boolean {
  switch (record[0]) {
    case recordKind.offersViewed: {
      const [, wallMs, sub, , offerIds] = record;
      for (const id of offerIds) {
        const offer = offers.get(id);
        if (offer !== undefined) pairs.show(sub, offer.mark);
      }
      // No click of older sessions counts any more.
      pairs.forgetBefore(wallMs - bounds.clickAttributedMs - bounds.clockSetBackMs);
      return false;
    }
    case recordKind.offerClicked: {
      const offer = offers.get(record[4]);
      return offer !== undefined && followClick(record, offer, pairs);
    }
    case recordKind.revenueConfirmed: {
      const offer = offers.get(record[3]);
      if (offer === undefined || record[8] === null) return false;
      // It may bring a click that nothing else has. That one takes no place, but no later one is the first.
      if (pairs.state(record[2], offer.mark) === 'shown') pairs.click(record[2], offer.mark);
      return false;
    }
  }
  return false;
}

function followClick(
  [, clickedMs, sub, , , , , withinDailyCap]: OfferClicked,
  offer: CappedOffer,
  pairs: SessionPairs,
): boolean {
  // A verdict stands. Without one, from a time when the offer had no cap, the click is judged now.
  if (withinDailyCap === null || pairs.state(sub, offer.mark) === 'clicked') return false;
  if (withinDailyCap === undefined) {
    if (clickedMs - decodeSubId(sub).createdMs > bounds.clickAttributedMs || !mayBook(sub, offer, pairs)) return false;
  }
  pairs.click(sub, offer.mark);
  if (withinDailyCap === false) return false;
  const day = dayOf(clickedMs);
  offer.book(day);
  return offer.departedMs === null && offer.isFull(day);
}

/** Whether a click would be the first of the session on an offer that it was shown; it is held to be where that is not known. */
export function mayBook(sub: Uint8Array, { mark }: CappedOffer, pairs: SessionPairs): boolean {
  const state = pairs.state(sub, mark);
  return state === 'shown' || (state === 'none' && !pairs.knows(decodeSubId(sub).createdMs));
}
