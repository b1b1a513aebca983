import type { CancelSignal } from '../domain/cancel-signal.ts';
import type { PayoutState } from './judge-confirmation.ts';

/** What one confirmation is about. */
export interface PayoutKey {
  readonly sub: Uint8Array;
  readonly offerId: string;
  readonly txid: string;
}

export interface PayoutStateWithLender extends PayoutState {
  /** The lender the click was counted for; null when none was. */
  readonly lenderName: string | null;
}

/** The port through which an operation learns what the ledger holds of clicks and payouts. */
export interface PayoutStateReader {
  /**
   * One answer for each question, in their order. They hold every record that a healthy log had taken before the call.
   * Rejects with `AnalyticsUnavailable`.
   */
  findPayoutStates(asked: readonly PayoutKey[], signal?: CancelSignal | null): Promise<readonly PayoutStateWithLender[]>;
}
