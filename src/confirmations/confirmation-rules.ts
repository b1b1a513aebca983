import { bounds } from '../bounds.ts';
import { isWithinAttributionWindow } from '../clicks/click-rules.ts';
import { microsPerUsd } from '../domain/money.ts';
import { decodeSubId } from '../ids/sub-id.ts';
import type { Booking, Confirmation, Payout, RejectionReason } from './confirmation.ts';

/** State, derived from the ledger, of the session, offer and txid of one confirmation. */
export interface PayoutState {
  /** Whether the session exists and a response of the session contained the offer. */
  readonly offerShown: boolean;
  /** Time of the counted click in Unix milliseconds; null if there is no counted click. */
  readonly clickedMs: number | null;
  /** Confirmed revenue of the whole session, in micro-dollars. */
  readonly sessionRevenueMicros: number;
  readonly payout: Payout | null;
}

type ConfirmationDecision = 'accepted' | 'repeated' | RejectionReason;

/**
 * Applies docs/contract.md#confirmation-rules. Each row is checked twice, with the same result: before it is appended to the ledger,
 * and when the ledger is projected. Therefore even a ledger that breaks the rules cannot make a payout negative or greater than its
 * funded amount.
 */
export function checkConfirmation(confirmation: Confirmation, state: PayoutState, nowMs: number): ConfirmationDecision {
  const { sub, status, amountMicros, occurredMs } = confirmation;
  const { createdMs, mode } = decodeSubId(sub);
  if (mode === 'test') return 'sandbox';
  // Repeats are checked before the rules that depend on time, so that a repeat has the same result as long as the payout is retained.
  const first = state.payout?.[status] ?? null;
  if (first !== null) return isSameBooking(first, confirmation) ? 'repeated' : 'conflict';

  const clickedMs = state.clickedMs ?? confirmation.click?.clickedMs ?? null;
  if (clickedMs === null || !state.offerShown) {
    // The session may have been deleted already, so that only its creation time is known.
    const lastMs = createdMs + bounds.clickAttributionMs + bounds.confirmationWindowMs;
    return nowMs > lastMs ? 'too_late' : 'click_unknown';
  }
  if (!isWithinAttributionWindow(clickedMs, createdMs)) return 'click_late';

  if (status === 'reversed') {
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

/** Returns the payout after an accepted confirmation. */
export function applyToPayout(
  { status, amountMicros, occurredMs }: Omit<Confirmation, 'click'>,
  payout: Payout | null,
): Payout {
  const booking = { amountMicros, occurredMs };
  if (status === 'funded') return { funded: booking, reversed: null };
  if (payout === null) throw new Error('only a funded payout can be reversed');
  return { ...payout, reversed: booking };
}

/** Returns the change of confirmed revenue by an accepted confirmation, in micro-dollars; negative for a reversal. */
export function revenueDeltaMicros({ status, amountMicros }: Pick<Confirmation, 'status' | 'amountMicros'>): number {
  return status === 'funded' ? amountMicros : -amountMicros;
}

function isSameBooking(booking: Booking, { amountMicros, occurredMs }: Confirmation): boolean {
  return booking.amountMicros === amountMicros && booking.occurredMs === occurredMs;
}
