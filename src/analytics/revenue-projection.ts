import type { Confirmation, ConfirmedPayout } from '../confirmations/confirmation.ts';
import { applyConfirmationToPayout, revenueDeltaMicros } from '../confirmations/confirmation.ts';
import { squareRevenueCents } from './counting-rules.ts';
import type { ChangedPayout, ClickRevenueChange } from './projection-state.ts';
import type { SqliteProjectionState } from './sqlite-projection-state.ts';

/** Amounts to add to the daily counters of the session's cohort; negative for a reversal. */
interface RevenueDelta {
  readonly confirmedMicros: number;
  readonly confirmedCentsSquared: number;
}

/** Collects the changes of payouts and confirmed revenue in one batch. */
export class RevenueChanges {
  readonly #state: SqliteProjectionState;
  readonly changedPayouts = new Map<string, ChangedPayout>();
  readonly clickDeltas = new Map<string, ClickRevenueChange>();
  readonly #revenueBySession = new Map<number, number>();

  constructor(state: SqliteProjectionState) {
    this.#state = state;
  }

  sessionRevenueMicros(session: number): number {
    return this.#revenueBySession.get(session) ?? this.#state.sessionRevenueMicros(session);
  }

  findPayout(session: number, offer: number, txid: string): ConfirmedPayout | null {
    return this.changedPayouts.get(`${session} ${offer} ${txid}`) ?? this.#state.findPayout(session, offer, txid);
  }

  /** Applies an accepted confirmation of a counted click. */
  applyConfirmation(session: number, offer: number, confirmation: Confirmation): RevenueDelta {
    const { txid } = confirmation;
    const before = this.sessionRevenueMicros(session);
    const confirmedMicros = revenueDeltaMicros(confirmation);
    const after = before + confirmedMicros;
    this.#revenueBySession.set(session, after);
    const payout = applyConfirmationToPayout(confirmation, this.findPayout(session, offer, txid));
    this.changedPayouts.set(`${session} ${offer} ${txid}`, { session, offer, txid, ...payout });

    const key = `${session} ${offer}`;
    let click = this.clickDeltas.get(key);
    if (click === undefined) {
      click = { session, offer, micros: 0 };
      this.clickDeltas.set(key, click);
    }
    click.micros += confirmedMicros;
    return { confirmedMicros, confirmedCentsSquared: squareRevenueCents(after) - squareRevenueCents(before) };
  }
}
