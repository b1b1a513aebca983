import type { Database, Statement } from 'better-sqlite3';
import type { Payout } from '../confirmations/confirmation.ts';
import type { PayoutKey, PayoutStateWithLender } from '../confirmations/confirmation-history.ts';
import type { RetainedSessions } from './kept-sessions.ts';
import type { RevenueState } from './revenue-fold.ts';
import { decodeVarints } from './varints.ts';

/** A click that counted, as confirmations need it. */
export interface StoredClick {
  readonly lender: number;
  readonly clickedMs: number;
}

type ShownOffersRow = [position: number, shown: Uint8Array | null];
type PayoutRow = [fundedMicros: number, fundedMs: number, reversedMicros: number | null, reversedMs: number | null];

/** Clicks and payouts as the store has them. Confirmations are rare: nothing is cached. */
export class SqliteRevenueState implements RevenueState {
  readonly #retainedSessions: RetainedSessions;
  readonly #selectSession: Statement<[Uint8Array], ShownOffersRow>;
  readonly #selectOffer: Statement<[string], number>;
  readonly #selectClick: Statement<[number, number], [lender: number, clickedMs: number]>;
  readonly #selectLenderName: Statement<[number], string>;
  readonly #selectSessionRevenue: Statement<[number], number>;
  readonly #selectPayout: Statement<[number, number, string], PayoutRow>;

  constructor(database: Database, retainedSessions: RetainedSessions) {
    this.#retainedSessions = retainedSessions;
    this.#selectSession = database
      .prepare<[Uint8Array], ShownOffersRow>('SELECT position, shown FROM session WHERE sub = ?')
      .raw();
    this.#selectOffer = database.prepare<[string], number>('SELECT number FROM offer WHERE id = ?').pluck();
    this.#selectClick = database
      .prepare<[number, number], [number, number]>(
        'SELECT lender, clicked_ms FROM click WHERE session = ? AND offer = ?',
      )
      .raw();
    this.#selectLenderName = database.prepare<[number], string>('SELECT name FROM lender WHERE number = ?').pluck();
    this.#selectSessionRevenue = database
      .prepare<[number], number>('SELECT coalesce(sum(confirmed_micros), 0) FROM click WHERE session = ?')
      .pluck();
    this.#selectPayout = database
      .prepare<[number, number, string], PayoutRow>(
        `SELECT funded_micros, funded_ms, reversed_micros, reversed_ms FROM payout
        WHERE session = ? AND offer = ? AND txid = ?`,
      )
      .raw();
  }

  findClick(session: number, offer: number): StoredClick | null {
    const row = this.#selectClick.get(session, offer);
    return row === undefined ? null : { lender: row[0], clickedMs: row[1] };
  }

  sessionRevenueMicros(session: number): number {
    return this.#selectSessionRevenue.get(session)!;
  }

  findPayout(session: number, offer: number, txid: string): Payout | null {
    const row = this.#selectPayout.get(session, offer, txid);
    if (row === undefined) return null;
    const [fundedMicros, fundedMs, reversedMicros, reversedMs] = row;
    const funded = { amountMicros: fundedMicros, occurredMs: fundedMs };
    if (reversedMicros === null || reversedMs === null) return { funded, reversed: null };
    return { funded, reversed: { amountMicros: reversedMicros, occurredMs: reversedMs } };
  }

  /** As `PayoutStateReader.knownPayouts`, of what is folded so far. */
  findPayoutStates(asked: readonly PayoutKey[]): PayoutStateWithLender[] {
    return asked.map((about) => this.#findPayoutState(about));
  }

  #findPayoutState({ sub, offerId, txid }: PayoutKey): PayoutStateWithLender {
    const session = this.#retainedSessions.isRetained(sub) ? this.#selectSession.get(sub) : undefined;
    if (session === undefined) return emptyPayoutState;
    const [position, shown] = session;
    const sessionRevenueMicros = this.sessionRevenueMicros(position);
    const offer = this.#selectOffer.get(offerId);
    if (offer === undefined) return { ...emptyPayoutState, sessionRevenueMicros };
    const click = this.findClick(position, offer);
    return {
      offerShown: decodeVarints(shown).includes(offer),
      clickedMs: click?.clickedMs ?? null,
      lenderName: click === null ? null : this.#selectLenderName.get(click.lender)!,
      sessionRevenueMicros,
      payout: this.findPayout(position, offer, txid),
    };
  }
}

const emptyPayoutState: PayoutStateWithLender = { offerShown: false, clickedMs: null, lenderName: null, sessionRevenueMicros: 0, payout: null };
