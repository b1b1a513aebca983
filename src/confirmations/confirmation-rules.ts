import { bounds } from '../bounds.ts';
import { isWithinAttributionWindow } from '../clicks/click-rules.ts';
import { microsPerUsd } from '../domain/money.ts';
import { decodeSubId } from '../ids/sub-id.ts';
import type { Booking, Confirmation, Payout, RejectionReason } from './confirmation.ts';

/** What the ledger holds of the session, offer and txid of one confirmation. */
export interface PayoutState {
  /** Whether the session exists and was shown the offer. */
  readonly offerShown: boolean;
  /** When the click that counted was made; null when none has. */
  readonly clickedMs: number | null;
  /** Confirmed revenue of the whole session, in micro-dollars. */
  readonly sessionRevenueMicros: number;
  readonly payout: Payout | null;
}

type ConfirmationDecision = 'accepted' | 'repeated' | RejectionReason;

/**
 * The rules of docs/contract.md#confirmation-rules, applied twice to each row: before it enters the ledger, and again, with the same
 * result, when counters are derived from the ledger; so a ledger that breaks them cannot make a payout count below zero
 * or above what was funded.
 */
export function checkConfirmation(confirmation: Confirmation, past: PayoutState, nowMs: number): ConfirmationDecision {
  const { sub, status, amountMicros, occurredMs } = confirmation;
  const { createdMs, mode } = decodeSubId(sub);
  if (mode === 'test') return 'sandbox';
  // Before all that time can change: a repeat gets the first answer as long as the payout is kept.
  const first = past.payout?.[status] ?? null;
  if (first !== null) return isSameBooking(first, confirmation) ? 'repeated' : 'conflict';

  const clickedMs = past.clickedMs ?? confirmation.click?.clickedMs ?? null;
  // A click may be older than its session, by a clock that was set back in between.
  if (clickedMs === null || !past.offerShown) {
    // Of a session so old that a click on it would be, maybe nothing is kept to tell more by.
    const lastMs = createdMs + bounds.clickAttributionMs + bounds.confirmationWindowMs;
    return nowMs > lastMs ? 'too_late' : 'click_unknown';
  }
  if (!isWithinAttributionWindow(clickedMs, createdMs)) return 'click_late';

  if (status === 'reversed') {
    if (past.payout === null) return 'txid_unknown';
    if (amountMicros > past.payout.funded.amountMicros) return 'exceeds_funded';
  }
  if (occurredMs < clickedMs - bounds.confirmationClockSkewMs) return 'before_click';
  if (occurredMs > nowMs + bounds.confirmationClockSkewMs) return 'in_future';
  if (nowMs - clickedMs > bounds.confirmationWindowMs) return 'too_late';
  if (status === 'funded' && past.sessionRevenueMicros + amountMicros > bounds.confirmedRevenueUsdMax * microsPerUsd) {
    return 'session_limit';
  }
  return 'accepted';
}

/** The payout after an accepted confirmation. */
export function applyToPayout(
  { status, amountMicros, occurredMs }: Omit<Confirmation, 'click'>,
  payout: Payout | null,
): Payout {
  const booking = { amountMicros, occurredMs };
  if (status === 'funded') return { funded: booking, reversed: null };
  if (payout === null) throw new Error('only a funded payout can be reversed');
  return { ...payout, reversed: booking };
}

/** What an accepted confirmation adds to confirmed revenue; below zero for a reversal. */
export function revenueDeltaMicros({ status, amountMicros }: Pick<Confirmation, 'status' | 'amountMicros'>): number {
  return status === 'funded' ? amountMicros : -amountMicros;
}

function isSameBooking(booking: Booking, { amountMicros, occurredMs }: Confirmation): boolean {
  return booking.amountMicros === amountMicros && booking.occurredMs === occurredMs;
}
