import { bounds } from '../bounds.ts';
import { dayOf } from '../domain/calendar.ts';
import { type LedgerRecord, type OfferClicked, ledgerRecordKind } from '../events/ledger-record.ts';
import { decodeSubId } from '../sessions/sub-id.ts';
import type { OfferCapState } from './capped-offer.ts';
import type { SessionOfferPairs } from './session-pairs.ts';

/**
 * Applies a record of the ledger to those of these offers that it names, by the rules of docs/contract.md#counting-clicks.
 * Tells whether it has an offer of the catalog in use closed.
 */
export function applyRecord(
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
  // A verdict stands. Without one, from a time when the offer had no cap, the click is judged now.
  if (withinDailyCap === null || pairs.state(sub, offer.randomId) === 'clicked') return false;
  if (withinDailyCap === undefined) {
    if (clickedMs - decodeSubId(sub).createdMs > bounds.clickAttributionMs || !canTakePlace(sub, offer, pairs)) return false;
  }
  pairs.markClicked(sub, offer.randomId);
  if (withinDailyCap === false) return false;
  const day = dayOf(clickedMs);
  offer.bookClick(day);
  return offer.removedMs === null && offer.isAtCap(day);
}

/** Whether a click would be the first of the session on an offer that it was shown; it is held to be where that is not known. */
export function canTakePlace(sub: Uint8Array, { randomId }: OfferCapState, pairs: SessionOfferPairs): boolean {
  const state = pairs.state(sub, randomId);
  return state === 'shown' || (state === 'none' && !pairs.isComplete(decodeSubId(sub).createdMs));
}
