import type { ClickReversal, Confirmation, ConfirmedPayout } from '../confirmations/confirmation.ts';
import { applyConfirmationToPayout, revenueDeltaMicros } from '../confirmations/confirmation.ts';
import { squareRevenueCents } from './counting-rules.ts';
import type { ChangedPayout, ClickRevenueChange, NewClickReversal } from './projection-state.ts';
import type { SqliteProjectionState } from './sqlite-projection-state.ts';

/** Amounts to add to the daily counters of the session's cohort; negative for a reversal. */
export interface RevenueDelta {
  readonly confirmedMicros: number;
  readonly confirmedCentsSquared: number;
  /** 1 if the session got its first revenue, -1 if it lost all its revenue, otherwise 0. */
  readonly revenueSessions: number;
}

/** Collects the changes of payouts, reversals and confirmed revenue in one batch. */
export class RevenueChanges {
  readonly #state: SqliteProjectionState;
  readonly changedPayouts = new Map<string, ChangedPayout>();
  readonly newReversals = new Map<string, NewClickReversal>();
  readonly clickDeltas = new Map<string, ClickRevenueChange>();
  readonly #revenueBySession = new Map<number, number>();
  readonly #fundedClicks = new Set<string>();

  constructor(state: SqliteProjectionState) {
    this.#state = state;
  }

  sessionRevenueMicros(session: number): number {
    return this.#revenueBySession.get(session) ?? this.#state.sessionRevenueMicros(session);
  }

  findPayout(session: number, offer: number, txid: string): ConfirmedPayout | null {
    return this.changedPayouts.get(`${session} ${offer} ${txid}`) ?? this.#state.findPayout(session, offer, txid);
  }

  /** Whether a click has a payout, with any txid, even if the payout is reversed. */
  isFunded(session: number, offer: number): boolean {
    return this.#fundedClicks.has(`${session} ${offer}`) || this.#state.isFunded(session, offer);
  }

  findClickReversal(session: number, offer: number, txid: string): ClickReversal | null {
    return this.newReversals.get(`${session} ${offer} ${txid}`) ?? this.#state.findClickReversal(session, offer, txid);
  }

  /** Returns the confirmed revenue of a counted click in micro-dollars. */
  clickRevenueMicros(session: number, offer: number): number {
    const storedMicros = this.#state.clickRevenueMicros(session, offer);
    return storedMicros + (this.clickDeltas.get(`${session} ${offer}`)?.micros ?? 0);
  }

  /** Applies an accepted confirmation of a counted click. */
  applyConfirmation(session: number, offer: number, confirmation: Confirmation): RevenueDelta {
    const { txid, reason, status, amountMicros, occurredMs } = confirmation;
    if (status === 'funded') this.#fundedClicks.add(`${session} ${offer}`);
    const key = `${session} ${offer} ${txid}`;
    if (reason === null) {
      const payout = applyConfirmationToPayout(confirmation, this.findPayout(session, offer, txid));
      this.changedPayouts.set(key, { session, offer, txid, ...payout });
    } else {
      this.newReversals.set(key, { session, offer, txid, amountMicros, occurredMs, reason });
    }
    return this.addClickRevenue(session, offer, revenueDeltaMicros(confirmation));
  }

  /** Adds `confirmedMicros`, which is negative for a reversal, to the confirmed revenue of a counted click. */
  addClickRevenue(session: number, offer: number, confirmedMicros: number): RevenueDelta {
    const before = this.sessionRevenueMicros(session);
    const after = before + confirmedMicros;
    this.#revenueBySession.set(session, after);

    const key = `${session} ${offer}`;
    let click = this.clickDeltas.get(key);
    if (click === undefined) {
      click = { session, offer, micros: 0 };
      this.clickDeltas.set(key, click);
    }
    click.micros += confirmedMicros;
    return {
      confirmedMicros,
      confirmedCentsSquared: squareRevenueCents(after) - squareRevenueCents(before),
      revenueSessions: Number(after > 0) - Number(before > 0),
    };
  }
}
