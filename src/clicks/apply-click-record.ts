import { bounds } from '../bounds.ts';
import { decodeSubId } from '../ids/sub-id.ts';
import { type LedgerRecord, ledgerRecordKind, type OfferClickedRecord } from '../ledger/ledger-record.ts';
import { unbookedReasonIndex } from './click-decision.ts';
import { classifyClick, isWithinAttributionWindow } from './click-rules.ts';
import type { OfferAccount } from './offer-account.ts';
import type { SessionOfferPairs } from './session-offer-pairs.ts';
import type { TenantAccounts } from './tenant-accounts.ts';

/** Finds the accounts to which a record applies. `clicksConfirmRevenue`: see `Vertical`. */
type AccountFinder = Pick<TenantAccounts, 'findAccount' | 'findOrAddAccount' | 'clicksConfirmRevenue'>;

/**
 * Applies a ledger record to the accounts and the session-offer pairs of a vertical and mode. Returns the account whose figures changed, or
 * null.
 *
 * @param isAccounted whether the figures of the accounts already contain the record, so that only the pairs must be updated
 */
export function applyRecordToAccounts(
  record: LedgerRecord,
  tenant: AccountFinder,
  pairs: SessionOfferPairs,
  isAccounted: boolean,
): OfferAccount | null {
  switch (record[0]) {
    case ledgerRecordKind.offersViewed: {
      const [, wallMs, sub, , offerIds] = record;
      for (const id of offerIds) {
        const account = tenant.findAccount(id);
        if (account?.tracksSessions === true) pairs.markShown(sub, account.randomId, wallMs);
      }
      return null;
    }
    case ledgerRecordKind.offerClicked: {
      const account = tenant.findOrAddAccount(record[4]);
      if (account === null) return null;
      return applyClick(record, account, tenant.clicksConfirmRevenue, pairs, isAccounted) ? account : null;
    }
    case ledgerRecordKind.revenueConfirmed: {
      const [, wallMs, sub, offerId, , , , , clickedMs, clickValueMicros] = record;
      const account = tenant.findAccount(offerId);
      if (account === undefined || clickedMs === null || clickValueMicros === null) return null;
      const { createdMs, mode } = decodeSubId(sub);
      // A confirmation can create a missing click (docs/contract.md#clicks-without-a-record), which does not count towards the daily cap.
      // Later clicks on the offer in the same session count as repeats.
      if (pairs.getPairState(sub, account.randomId) !== 'shown') return null;
      pairs.markClicked(sub, account.randomId);
      if (isAccounted || mode === 'test' || !isWithinAttributionWindow(wallMs, createdMs)) return null;
      account.addRevenue(clickedMs, clickValueMicros);
      return account;
    }
  }
  return null;
}

/** Applies the record of a click. Returns whether the figures of the account changed. */
function applyClick(
  [, clickedMs, sub, , , , valueMicros, isBooked, reason]: OfferClickedRecord,
  account: OfferAccount,
  clicksConfirmRevenue: boolean,
  pairs: SessionOfferPairs,
  isAccounted: boolean,
): boolean {
  const { randomId } = account;
  // The decision `isBooked` in the click's record is final. `isBooked` is undefined if the click needed no decision.
  if (isBooked === null || pairs.getPairState(sub, randomId) === 'clicked') return false;
  if (isBooked === false && reason === unbookedReasonIndex.too_fast) {
    pairs.markClickedTooFast(sub, randomId);
    return false;
  }
  if (isBooked === undefined && !isCountedClick(sub, clickedMs, account, pairs)) return false;
  pairs.markClicked(sub, randomId);
  if (isBooked !== false && clicksConfirmRevenue) pairs.countBookedOffer(sub);
  if (isAccounted) {
    if (isBooked !== false && account.recountsClicks) account.addBookedClick(clickedMs, 0);
    return false;
  }
  if (isBooked !== false) account.addBookedClick(clickedMs, valueMicros);
  else if (reason === unbookedReasonIndex.budget) account.markClickRefused(clickedMs);
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
  { randomId, tracksSessions }: OfferAccount,
  pairs: SessionOfferPairs,
): boolean {
  const { createdMs } = decodeSubId(sub);
  const state = pairs.getPairState(sub, randomId);
  const wasShown = state !== 'none' || !tracksSessions || !pairs.hasAllPairsSince(createdMs);
  return classifyClick({ wasShown, wasClicked: state === 'clicked', createdMs }, clickedMs) === 'counted';
}

/** Whether a click is earlier than `clickDelayMsMin` after the first answer with the offer. False if this answer is not known. */
export function isTooFastClick(
  sub: Uint8Array,
  clickedMs: number,
  { randomId }: OfferAccount,
  pairs: SessionOfferPairs,
): boolean {
  const shownMs = pairs.getShownMs(sub, randomId);
  // A negative difference means that the wall clock was set back.
  return shownMs !== null && clickedMs >= shownMs && clickedMs - shownMs < bounds.clickDelayMsMin;
}
