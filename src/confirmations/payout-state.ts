import type { CancelSignal } from '../domain/async.ts';
import type { Confirmation, Payout } from './confirmation.ts';
import { applyToPayout, type PayoutState, revenueDeltaMicros } from './confirmation-rules.ts';

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
  findPayoutStates(
    asked: readonly PayoutKey[],
    signal?: CancelSignal | null,
  ): Promise<readonly PayoutStateWithLender[]>;
}

interface PendingClick {
  readonly offerShown: boolean;
  readonly clickedMs: number | null;
  readonly lenderName: string | null;
}

/** What the ledger holds of the rows of one batch, kept up to date as its rows are accepted one after the other. */
export class PendingPayoutStates {
  readonly #revenueBySession = new Map<string, number>();
  readonly #clicks = new Map<string, PendingClick>();
  readonly #payouts = new Map<string, Payout | null>();

  /** @param known answers to `asked`, in their order. */
  constructor(asked: readonly PayoutKey[], known: readonly PayoutStateWithLender[]) {
    for (const [index, about] of asked.entries()) {
      const { offerShown, clickedMs, lenderName, sessionRevenueMicros, payout } = known[index]!;
      this.#revenueBySession.set(sessionKey(about), sessionRevenueMicros);
      this.#clicks.set(clickKey(about), { offerShown, clickedMs, lenderName });
      this.#payouts.set(payoutKey(about), payout);
    }
  }

  /** Only of rows the batch was opened with. */
  get(about: PayoutKey): PayoutStateWithLender {
    return {
      ...this.#clicks.get(clickKey(about))!,
      sessionRevenueMicros: this.#revenueBySession.get(sessionKey(about))!,
      payout: this.#payouts.get(payoutKey(about)) ?? null,
    };
  }

  applyAccepted(confirmation: Confirmation, lenderName: string): void {
    const { clickedMs, offerShown, sessionRevenueMicros, payout } = this.get(confirmation);
    this.#revenueBySession.set(sessionKey(confirmation), sessionRevenueMicros + revenueDeltaMicros(confirmation));
    // A click restored by one row is there for the rows behind it.
    this.#clicks.set(clickKey(confirmation), {
      offerShown,
      clickedMs: clickedMs ?? confirmation.click?.clickedMs ?? null,
      lenderName,
    });
    this.#payouts.set(payoutKey(confirmation), applyToPayout(confirmation, payout));
  }
}

function sessionKey({ sub }: PayoutKey): string {
  return Buffer.from(sub).toString('latin1');
}

/** Ids and names of offers and payouts hold no space. */
function clickKey(about: PayoutKey): string {
  return `${sessionKey(about)} ${about.offerId}`;
}

function payoutKey(about: PayoutKey): string {
  return `${clickKey(about)} ${about.txid}`;
}
