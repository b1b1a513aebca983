import type { Database, Statement } from 'better-sqlite3';
import type { Payout } from '../confirmations/confirmation.ts';
import type { AskedPayout, KnownPayout } from '../confirmations/confirmation-history.ts';
import type { KeptSessions } from './kept-sessions.ts';
import type { RevenuePast } from './revenue-fold.ts';
import { decodeVarints } from './varints.ts';

/** A click that counted, as confirmations need it. */
export interface StoredClick {
  readonly lender: number;
  readonly clickedMs: number;
}

type SessionRow = [position: number, shown: Uint8Array | null];
type PayoutRow = [fundedMicros: number, fundedMs: number, reversedMicros: number | null, reversedMs: number | null];

/** Clicks and payouts as the store has them. Confirmations are rare: nothing is cached. */
export class StoredRevenue implements RevenuePast {
  readonly #kept: KeptSessions;
  readonly #session: Statement<[Uint8Array], SessionRow>;
  readonly #offer: Statement<[string], number>;
  readonly #click: Statement<[number, number], [lender: number, clickedMs: number]>;
  readonly #lenderName: Statement<[number], string>;
  readonly #sessionMicros: Statement<[number], number>;
  readonly #payout: Statement<[number, number, string], PayoutRow>;

  constructor(database: Database, kept: KeptSessions) {
    this.#kept = kept;
    this.#session = database
      .prepare<[Uint8Array], SessionRow>('SELECT position, shown FROM session WHERE sub = ?')
      .raw();
    this.#offer = database.prepare<[string], number>('SELECT number FROM offer WHERE id = ?').pluck();
    this.#click = database
      .prepare<[number, number], [number, number]>(
        'SELECT lender, clicked_ms FROM click WHERE session = ? AND offer = ?',
      )
      .raw();
    this.#lenderName = database.prepare<[number], string>('SELECT name FROM lender WHERE number = ?').pluck();
    this.#sessionMicros = database
      .prepare<[number], number>('SELECT coalesce(sum(confirmed_micros), 0) FROM click WHERE session = ?')
      .pluck();
    this.#payout = database
      .prepare<[number, number, string], PayoutRow>(
        `SELECT funded_micros, funded_ms, reversed_micros, reversed_ms FROM payout
        WHERE session = ? AND offer = ? AND txid = ?`,
      )
      .raw();
  }

  findClick(session: number, offer: number): StoredClick | null {
    const row = this.#click.get(session, offer);
    return row === undefined ? null : { lender: row[0], clickedMs: row[1] };
  }

  sessionMicros(session: number): number {
    return this.#sessionMicros.get(session)!;
  }

  findPayout(session: number, offer: number, txid: string): Payout | null {
    const row = this.#payout.get(session, offer, txid);
    if (row === undefined) return null;
    const [fundedMicros, fundedMs, reversedMicros, reversedMs] = row;
    const funded = { amountMicros: fundedMicros, occurredMs: fundedMs };
    if (reversedMicros === null || reversedMs === null) return { funded, reversed: null };
    return { funded, reversed: { amountMicros: reversedMicros, occurredMs: reversedMs } };
  }

  /** As `ConfirmationHistory.knownPayouts`, of what is folded so far. */
  known(asked: readonly AskedPayout[]): KnownPayout[] {
    return asked.map((about) => this.#knownOf(about));
  }

  #knownOf({ sub, offerId, txid }: AskedPayout): KnownPayout {
    const session = this.#kept.has(sub) ? this.#session.get(sub) : undefined;
    if (session === undefined) return nothingKnown;
    const [position, shown] = session;
    const sessionMicros = this.sessionMicros(position);
    const offer = this.#offer.get(offerId);
    if (offer === undefined) return { ...nothingKnown, sessionMicros };
    const click = this.findClick(position, offer);
    return {
      shown: decodeVarints(shown).includes(offer),
      clickedMs: click?.clickedMs ?? null,
      lenderName: click === null ? null : this.#lenderName.get(click.lender)!,
      sessionMicros,
      payout: this.findPayout(position, offer, txid),
    };
  }
}

const nothingKnown: KnownPayout = { shown: false, clickedMs: null, lenderName: null, sessionMicros: 0, payout: null };
