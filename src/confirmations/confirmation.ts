import { bounds } from '../bounds.ts';
import { isWithinAttributionWindow } from '../clicks/click-rules.ts';
import { microsPerUsd } from '../domain/money.ts';
import { decodeSubId } from '../ids/sub-id.ts';
import type { ReversalReason } from '../ledger/ledger-record.ts';
import type { RejectionReason } from './rejection-reasons.ts';

/**
 * A lender's confirmation that it owes a payout for a click, the reversal of a payout, or the reversal of revenue that a click confirmed
 * itself (docs/contract.md#confirmation-rows).
 */
export interface Confirmation {
  readonly status: ConfirmationStatus;
  /** The 32 bytes of the sub_id, in an array that shares no memory with other data. */
  readonly sub: Uint8Array;
  readonly offerId: string;
  /**
   * Identifier that the lender assigned to the payout. The reversal of a payout has the same txid as the payout; other reversals have a
   * txid of their own.
   */
  readonly txid: string;
  readonly amountMicros: number;
  readonly occurredMs: number;
  /** Data from the click_id, for a click without a ledger record (docs/contract.md#clicks-without-a-record); null without a click_id. */
  readonly click: ClickDetails | null;
  /** Reason for taking back revenue that a click confirmed itself; null for payouts and their reversals. */
  readonly reason: ReversalReason | null;
  /** Whether the click's vertical has flat payouts (docs/contract.md#flat-payouts). */
  readonly isPayoutFlat: boolean;
}

export type ConfirmationStatus = 'funded' | 'reversed';

export interface ClickDetails {
  readonly clickedMs: number;
  readonly valueMicros: number;
  /** Flat payout of the offer in micro-dollars; null if the vertical has no flat payouts, or if the click_id contains no payout. */
  readonly payoutMicros: number | null;
}

/** The only allowed value of the optional member `currency`. */
export const confirmationCurrency = 'USD';

export interface PayoutTransaction {
  readonly amountMicros: number;
  readonly occurredMs: number;
}

export interface ConfirmedPayout {
  readonly funded: PayoutTransaction;
  readonly reversed: PayoutTransaction | null;
}

/** Reversal of revenue that a click confirmed itself. */
export interface ClickReversal extends PayoutTransaction {
  readonly reason: ReversalReason;
}

/** Ledger data about the session, the click and the payout of a confirmation. */
export interface PayoutState {
  /** Whether the offer was shown in the session; false for an unknown session. */
  readonly offerShown: boolean;
  /** Time of the counted click in Unix milliseconds; null if there is no counted click. */
  readonly clickedMs: number | null;
  /** Confirmed revenue of the whole session, in micro-dollars. */
  readonly sessionRevenueMicros: number;
  /** Revenue that the click confirmed itself minus its reversals, in micro-dollars; null if the click confirmed no revenue. */
  readonly clickRevenueMicros: number | null;
  /** Flat payout of the offer in micro-dollars, from the record of the counted click; null if the record contains no payout. */
  readonly clickPayoutMicros: number | null;
  /** Whether a payout of the click was funded, with any txid, even if the payout is reversed. */
  readonly isFunded: boolean;
  readonly payout: ConfirmedPayout | null;
  /** Earlier reversal of the click's own revenue with the same txid. */
  readonly clickReversal: ClickReversal | null;
}

type ConfirmationDecision = 'accepted' | 'repeated' | RejectionReason;

/**
 * Checks a confirmation against the rules of docs/contract.md#confirmation-rules. The check runs before a confirmation is appended to the
 * ledger, and again when analytics read the ledger, because an invalid confirmation in a ledger could make a payout negative.
 */
export function checkConfirmation(confirmation: Confirmation, state: PayoutState, nowMs: number): ConfirmationDecision {
  const { sub, status, amountMicros, occurredMs, reason } = confirmation;
  const { createdMs, mode } = decodeSubId(sub);
  if (mode === 'test') return 'sandbox';
  // Detects a repeated confirmation before it checks the time limits, so that a repeat is not rejected as `too_late`.
  const first = reason === null ? state.payout?.[status] : state.clickReversal;
  if (first) return isSameTransaction(first, confirmation) ? 'repeated' : 'conflict';

  // Only a payout restores a click without a record. The record of a click that confirms its own revenue is the only proof of the revenue.
  const restoredClickMs = reason === null ? confirmation.click?.clickedMs : undefined;
  const clickedMs = state.clickedMs ?? restoredClickMs ?? null;
  if (clickedMs === null || !state.offerShown) {
    // For a deleted session, only the creation time (from the sub_id) is known.
    const lastMs = createdMs + bounds.clickAttributionMs + bounds.confirmationWindowMs;
    return nowMs > lastMs ? 'too_late' : 'click_unknown';
  }
  if (!isWithinAttributionWindow(clickedMs, createdMs)) return 'click_late';

  if (status === 'funded') {
    if (state.clickRevenueMicros !== null) return 'funded_not_accepted';
    const error = findFlatPayoutError(confirmation, state);
    if (error !== null) return error;
  } else if (reason !== null) {
    if (state.clickRevenueMicros === null) return 'click_not_booked';
    if (amountMicros > state.clickRevenueMicros) return 'exceeds_booked';
  } else {
    if (state.payout === null) return 'txid_unknown';
    if (amountMicros > state.payout.funded.amountMicros) return 'exceeds_funded';
  }
  if (occurredMs < clickedMs - bounds.confirmationClockSkewMs) return 'before_click';
  if (occurredMs > nowMs + bounds.confirmationClockSkewMs) return 'in_future';
  if (nowMs - clickedMs > bounds.confirmationWindowMs) return 'too_late';
  if (status === 'funded' && state.sessionRevenueMicros + amountMicros > bounds.confirmedRevenueUsdMax * microsPerUsd) {
    return 'session_limit';
  }
  return 'accepted';
}

/**
 * Applies docs/contract.md#flat-payouts to a `funded` row. The payout is in the record of the click. Only a click without a record has the
 * payout of its click_id. A click of an earlier release has no payout, so its row can have any amount.
 */
function findFlatPayoutError(
  { isPayoutFlat, amountMicros, click }: Confirmation,
  { clickedMs, clickPayoutMicros, isFunded }: PayoutState,
): 'already_funded' | 'amount_not_flat' | null {
  const payoutMicros = clickedMs === null ? (click?.payoutMicros ?? null) : clickPayoutMicros;
  if (!isPayoutFlat && payoutMicros === null) return null;
  if (isFunded) return 'already_funded';
  return payoutMicros === null || amountMicros === payoutMicros ? null : 'amount_not_flat';
}

export function applyConfirmationToPayout(
  { status, amountMicros, occurredMs }: Pick<Confirmation, 'status' | 'amountMicros' | 'occurredMs'>,
  payout: ConfirmedPayout | null,
): ConfirmedPayout {
  const booking = { amountMicros, occurredMs };
  if (status === 'funded') return { funded: booking, reversed: null };
  if (payout === null) throw new Error('only a funded payout can be reversed');
  return { ...payout, reversed: booking };
}

/** Returns the amount in micro-dollars by which an accepted confirmation changes the confirmed revenue; negative for a reversal. */
export function revenueDeltaMicros({ status, amountMicros }: Pick<Confirmation, 'status' | 'amountMicros'>): number {
  return status === 'funded' ? amountMicros : -amountMicros;
}

function isSameTransaction(
  first: PayoutTransaction | ClickReversal,
  { amountMicros, occurredMs, reason }: Confirmation,
): boolean {
  const firstReason = 'reason' in first ? first.reason : null;
  return first.amountMicros === amountMicros && first.occurredMs === occurredMs && firstReason === reason;
}
