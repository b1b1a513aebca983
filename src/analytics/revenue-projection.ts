import type { Confirmation, Payout } from '../confirmations/confirmation.ts';
import { applyToPayout, revenueDeltaMicros } from '../confirmations/confirmation-rules.ts';
import { centsSquared } from './counting-rules.ts';

/** What confirmed revenue must know of the past. Sessions, offers and lenders go by their numbers. */
export interface RevenueState {
  /** Confirmed revenue of all clicks of a session. */
  sessionRevenueMicros(session: number): number;
  findPayout(session: number, offer: number, txid: string): Payout | null;
}

/** A payout that is new or changed. */
interface ChangedPayout extends Payout {
  readonly session: number;
  readonly offer: number;
  readonly txid: string;
}

/** What is added to the confirmed revenue of one click. */
interface ClickRevenueDelta {
  readonly session: number;
  readonly offer: number;
  micros: number;
}

/** What a confirmation adds to the counters of its session's cohort; both may be below zero. */
interface RevenueDelta {
  readonly confirmedMicros: number;
  readonly confirmedCentsSquared: number;
}

/** Confirmed revenue in one batch of the fold. */
export class RevenueProjection {
  readonly #state: RevenueState;
  readonly changedPayouts = new Map<string, ChangedPayout>();
  readonly clickDeltas = new Map<string, ClickRevenueDelta>();
  readonly #revenueBySession = new Map<number, number>();

  constructor(state: RevenueState) {
    this.#state = state;
  }

  sessionRevenueMicros(session: number): number {
    return this.#revenueBySession.get(session) ?? this.#state.sessionRevenueMicros(session);
  }

  findPayout(session: number, offer: number, txid: string): Payout | null {
    return this.changedPayouts.get(`${session} ${offer} ${txid}`) ?? this.#state.findPayout(session, offer, txid);
  }

  /** Books an accepted confirmation of a click that has counted. */
  applyConfirmation(session: number, offer: number, confirmation: Confirmation): RevenueDelta {
    const { txid } = confirmation;
    const before = this.sessionRevenueMicros(session);
    const confirmedMicros = revenueDeltaMicros(confirmation);
    const after = before + confirmedMicros;
    this.#revenueBySession.set(session, after);
    const payout = applyToPayout(confirmation, this.findPayout(session, offer, txid));
    this.changedPayouts.set(`${session} ${offer} ${txid}`, { session, offer, txid, ...payout });

    const key = `${session} ${offer}`;
    let click = this.clickDeltas.get(key);
    if (click === undefined) {
      click = { session, offer, micros: 0 };
      this.clickDeltas.set(key, click);
    }
    click.micros += confirmedMicros;
    return { confirmedMicros, confirmedCentsSquared: centsSquared(after) - centsSquared(before) };
  }
}
