import type { Confirmation, Payout } from '../confirmations/confirmation.ts';
import { changeMicros, payoutAfter } from '../confirmations/judge-confirmation.ts';
import { centsSquared } from './cohort-rules.ts';

/** What confirmed revenue must know of the past. Sessions, offers and lenders go by their numbers. */
export interface RevenuePast {
  /** Confirmed revenue of all clicks of a session. */
  sessionMicros(session: number): number;
  findPayout(session: number, offer: number, txid: string): Payout | null;
}

/** A payout that is new or changed. */
export interface ChangedPayout extends Payout {
  readonly session: number;
  readonly offer: number;
  readonly txid: string;
}

/** What is added to the confirmed revenue of one click. */
export interface ClickRevenue {
  readonly session: number;
  readonly offer: number;
  micros: number;
}

/** What a confirmation adds to the counters of its session's cohort; both may be below zero. */
export interface RevenueChange {
  readonly confirmedMicros: number;
  readonly confirmedCentsSquared: number;
}

/** Confirmed revenue in one batch of the fold. */
export class RevenueFold {
  readonly #past: RevenuePast;
  readonly payouts = new Map<string, ChangedPayout>();
  readonly clicks = new Map<string, ClickRevenue>();
  readonly #sessions = new Map<number, number>();

  constructor(past: RevenuePast) {
    this.#past = past;
  }

  sessionMicros(session: number): number {
    return this.#sessions.get(session) ?? this.#past.sessionMicros(session);
  }

  payout(session: number, offer: number, txid: string): Payout | null {
    return this.payouts.get(`${session} ${offer} ${txid}`) ?? this.#past.findPayout(session, offer, txid);
  }

  /** Books an accepted confirmation of a click that has counted. */
  book(session: number, offer: number, confirmation: Confirmation): RevenueChange {
    const { txid } = confirmation;
    const before = this.sessionMicros(session);
    const confirmedMicros = changeMicros(confirmation);
    const after = before + confirmedMicros;
    this.#sessions.set(session, after);
    const payout = payoutAfter(confirmation, this.payout(session, offer, txid));
    this.payouts.set(`${session} ${offer} ${txid}`, { session, offer, txid, ...payout });

    const key = `${session} ${offer}`;
    let click = this.clicks.get(key);
    if (click === undefined) {
      click = { session, offer, micros: 0 };
      this.clicks.set(key, click);
    }
    click.micros += confirmedMicros;
    return { confirmedMicros, confirmedCentsSquared: centsSquared(after) - centsSquared(before) };
  }
}
