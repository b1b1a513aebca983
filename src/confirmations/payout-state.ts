import type { CancelSignal } from '../domain/async.ts';
import { microsPerUsd } from '../domain/money.ts';
import type { ClickReversal, Confirmation, ConfirmedPayout } from './confirmation.ts';
import { applyConfirmationToPayout, type PayoutState, revenueDeltaMicros } from './confirmation.ts';

export interface PayoutKey {
  readonly sub: Uint8Array;
  readonly offerId: string;
  readonly txid: string;
}

export interface PayoutStateWithLender extends PayoutState {
  /** Name of the lender whose offer was clicked; null if no click was counted. */
  readonly lenderName: string | null;
}

/** State of a payout in the answer to a confirmation (docs/contract.md#confirmation-answers). */
export interface ConfirmationPayout {
  readonly state: 'funded' | 'partly_reversed' | 'reversed';
  /** Amount that counts as confirmed revenue, in USD: the payout minus its reversal. */
  readonly amount: number;
}

export interface PayoutStateReader {
  /**
   * Returns one payout state per payout key, in the order of `keys`. The payout states include every record that the ledger accepted before
   * the call, unless the ledger is unhealthy. Rejects with `AnalyticsUnavailableError` if analytics are unavailable.
   */
  findPayoutStates(keys: readonly PayoutKey[], signal?: CancelSignal | null): Promise<readonly PayoutStateWithLender[]>;
}

type PendingClick = Omit<PayoutStateWithLender, 'sessionRevenueMicros' | 'payout' | 'clickReversal'>;

/** Payout states for the rows of one batch. Each accepted row changes the payout states for the later rows of the batch. */
export class PendingPayoutStates {
  readonly #revenueBySession = new Map<string, number>();
  readonly #clicks = new Map<string, PendingClick>();
  readonly #payouts = new Map<string, ConfirmedPayout | null>();
  readonly #reversals = new Map<string, ClickReversal | null>();

  /** @param states initial states of `keys`, in the same order */
  constructor(keys: readonly PayoutKey[], states: readonly PayoutStateWithLender[]) {
    for (const [index, key] of keys.entries()) {
      const { sessionRevenueMicros, payout, clickReversal, ...click } = states[index]!;
      this.#revenueBySession.set(sessionKey(key), sessionRevenueMicros);
      this.#clicks.set(clickKey(key), click);
      this.#payouts.set(payoutKey(key), payout);
      this.#reversals.set(payoutKey(key), clickReversal);
    }
  }

  /** @param key one of the keys passed to the constructor */
  get(key: PayoutKey): PayoutStateWithLender {
    return {
      ...this.#clicks.get(clickKey(key))!,
      sessionRevenueMicros: this.#revenueBySession.get(sessionKey(key))!,
      payout: this.#payouts.get(payoutKey(key)) ?? null,
      clickReversal: this.#reversals.get(payoutKey(key)) ?? null,
    };
  }

  /**
   * Returns the payout that a confirmation names, or the revenue of the click if the confirmation takes back revenue that the click confirmed
   * itself. Returns null if there is no such payout, or no earlier reversal with the same txid.
   *
   * @param confirmation one of the keys passed to the constructor
   */
  describePayout(confirmation: Confirmation): ConfirmationPayout | null {
    const { payout, clickReversal, clickRevenueMicros } = this.get(confirmation);
    if (confirmation.reason !== null) {
      return clickReversal === null ? null : toConfirmationPayout(clickRevenueMicros ?? 0, true);
    }
    if (payout === null) return null;
    const { funded, reversed } = payout;
    return toConfirmationPayout(funded.amountMicros - (reversed?.amountMicros ?? 0), reversed !== null);
  }

  applyAcceptedConfirmation(confirmation: Confirmation, lenderName: string): void {
    const { sessionRevenueMicros, payout, clickReversal: _, ...click } = this.get(confirmation);
    const { amountMicros, occurredMs, reason, status } = confirmation;
    const { clickedMs, clickRevenueMicros } = click;
    const deltaMicros = revenueDeltaMicros(confirmation);
    this.#revenueBySession.set(sessionKey(confirmation), sessionRevenueMicros + deltaMicros);
    // Stores the click for later rows of the batch. If the ledger has no record of the click, the row restores the click.
    this.#clicks.set(clickKey(confirmation), {
      ...click,
      clickedMs: clickedMs ?? confirmation.click?.clickedMs ?? null,
      lenderName,
      isFunded: click.isFunded || status === 'funded',
      clickRevenueMicros: clickRevenueMicros === null ? null : clickRevenueMicros + deltaMicros,
    });
    if (reason === null) this.#payouts.set(payoutKey(confirmation), applyConfirmationToPayout(confirmation, payout));
    else this.#reversals.set(payoutKey(confirmation), { amountMicros, occurredMs, reason });
  }
}

function toConfirmationPayout(micros: number, isReversed: boolean): ConfirmationPayout {
  return {
    state: isReversed ? (micros === 0 ? 'reversed' : 'partly_reversed') : 'funded',
    amount: micros / microsPerUsd,
  };
}

function sessionKey({ sub }: PayoutKey): string {
  return Buffer.from(sub).toString('latin1');
}

/** Returns the key of a click in the map `#clicks`. Key parts are separated by spaces, which offer ids and txids cannot contain. */
function clickKey(key: PayoutKey): string {
  return `${sessionKey(key)} ${key.offerId}`;
}

function payoutKey(key: PayoutKey): string {
  return `${clickKey(key)} ${key.txid}`;
}
