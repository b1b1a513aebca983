import type { Database, Statement } from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import { bounds } from '../bounds.ts';
import type { ClickReversal, ConfirmedPayout } from '../confirmations/confirmation.ts';
import type { PayoutKey, PayoutStateWithLender } from '../confirmations/payout-state.ts';
import { reversalReasons } from '../ledger/ledger-record.ts';
import {
  decodeVarints,
  prepareArrayQuery,
  prepareSingleValueQuery,
  RowWriter,
  type SqlValue,
} from './analytics-database.ts';
import type { LedgerProjection } from './ledger-projection.ts';
import {
  type ClickBookingState,
  type CountedClick,
  clickBookingState,
  type SessionState,
  type SubIdSortKey,
  toSubIdSortKey,
} from './projection-state.ts';
import type { RetentionCutoff } from './store-retention.ts';

type PayoutRow = [fundedMicros: number, fundedMs: number, reversedMicros: number | null, reversedMs: number | null];
type ReversalRow = [reversedMicros: number, reversedMs: number, reason: number];
type ClickRow = [
  lender: number,
  clickedMs: number,
  attributedMicros: number,
  booking: ClickBookingState,
  unbookedReasons: number,
  payoutMicros: number | null,
];

const emptyPayoutState: PayoutStateWithLender = {
  offerShown: false,
  clickedMs: null,
  lenderName: null,
  sessionRevenueMicros: 0,
  clickRevenueMicros: null,
  clickPayoutMicros: null,
  isFunded: false,
  payout: null,
  clickReversal: null,
};

type ProjectedSessionRow = [
  experiment: number,
  position: number,
  device: number,
  views: number,
  clicks: number,
  shown: Uint8Array | null,
  lastEventMs: number,
  widgetEvents: Uint8Array | null,
];

/** Database table that assigns a number, the row ID, to each combination of column values. Row IDs are cached. */
class NumberTable {
  readonly #cache = new LRUCache<string, number>({ max: bounds.projectionNameCacheEntriesMax });
  readonly #select: Statement<SqlValue[], number>;
  readonly #insert: Statement<SqlValue[]>;

  constructor(database: Database, table: string, columns: readonly string[]) {
    const condition = columns.map((column) => `${column} = ?`).join(' AND ');
    this.#select = prepareSingleValueQuery(database, `SELECT number FROM ${table} WHERE ${condition}`);
    const placeholders = columns.map(() => '?').join(', ');
    this.#insert = database.prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${placeholders})`);
  }

  /** Returns the ID of the row with the column values `values`, or null if the row does not exist. `key` is the cache key of the row. */
  find(key: string, values: readonly SqlValue[] = [key]): number | null {
    const cached = this.#cache.get(key);
    if (cached !== undefined) return cached;
    const number = this.#select.get(...values);
    if (number === undefined) return null;
    this.#cache.set(key, number);
    return number;
  }

  /** Returns the ID of the row with the column values `values`. Inserts a new row if no row has these values. */
  findOrInsertRow(key: string, values: readonly SqlValue[] = [key]): number {
    const existing = this.find(key, values);
    if (existing !== null) return existing;
    const number = Number(this.#insert.run(...values).lastInsertRowid);
    this.#cache.set(key, number);
    return number;
  }
}

/** Reads the stored state that `LedgerProjection` needs. Caches have a fixed size, so that memory use does not grow with the ledger. */
export class SqliteProjectionState {
  readonly #retainedSessions: RetentionCutoff;
  readonly #sessionCache = new LRUCache<SubIdSortKey, SessionState>({
    max: bounds.projectionSessionCacheEntriesMax,
  });
  readonly #experiments: NumberTable;
  readonly offers: NumberTable;
  readonly lenders: NumberTable;
  readonly #findSession: Statement<[Buffer], ProjectedSessionRow>;
  readonly #findClicks: Statement<[number], number>;
  readonly #selectClick: Statement<[number, number], ClickRow>;
  readonly #selectClickRevenue: Statement<[number, number], number>;
  readonly #selectLenderName: Statement<[number], string>;
  readonly #selectSessionRevenue: Statement<[number], number>;
  readonly #selectPayout: Statement<[number, number, string], PayoutRow>;
  readonly #selectIsFunded: Statement<[number, number], number>;
  readonly #selectReversal: Statement<[number, number, string], ReversalRow>;
  readonly #metadataWriter: RowWriter;
  /** Greatest sub_id in the store. `findSession` needs no database query for a greater sub_id, which most new sessions have. */
  #newestKey: SubIdSortKey;

  constructor(database: Database, retainedSessions: RetentionCutoff) {
    this.#retainedSessions = retainedSessions;
    this.#findSession = prepareArrayQuery(
      database,
      `SELECT experiment, position, device, views, clicks, shown, last_event_ms, widget_events
        FROM session WHERE sub = ?`,
    );
    this.#findClicks = prepareSingleValueQuery(database, 'SELECT offer FROM click WHERE session = ?');
    this.#selectClick = prepareArrayQuery(
      database,
      `SELECT lender, clicked_ms, attributed_micros, booking, unbooked_reasons, payout_micros
        FROM click WHERE session = ? AND offer = ?`,
    );
    this.#selectClickRevenue = prepareSingleValueQuery(
      database,
      'SELECT confirmed_micros FROM click WHERE session = ? AND offer = ?',
    );
    this.#selectLenderName = prepareSingleValueQuery(database, 'SELECT name FROM lender WHERE number = ?');
    this.#selectSessionRevenue = prepareSingleValueQuery(
      database,
      'SELECT coalesce(sum(confirmed_micros), 0) FROM click WHERE session = ?',
    );
    this.#selectPayout = prepareArrayQuery(
      database,
      `SELECT funded_micros, funded_ms, reversed_micros, reversed_ms FROM payout
      WHERE session = ? AND offer = ? AND txid = ?`,
    );
    this.#selectIsFunded = prepareSingleValueQuery(
      database,
      'SELECT EXISTS (SELECT 1 FROM payout WHERE session = ? AND offer = ?)',
    );
    this.#selectReversal = prepareArrayQuery(
      database,
      `SELECT reversed_micros, reversed_ms, reason FROM click_reversal
      WHERE session = ? AND offer = ? AND txid = ?`,
    );
    this.#experiments = new NumberTable(database, 'experiment', ['account', 'vertical', 'test', 'tag']);
    this.offers = new NumberTable(database, 'offer', ['id']);
    this.lenders = new NumberTable(database, 'lender', ['name']);
    this.#metadataWriter = new RowWriter(database, 'session_metadata', ['session', 'json']);
    const last = prepareSingleValueQuery<[], Buffer | null>(database, 'SELECT max(sub) FROM session').get();
    this.#newestKey = last?.toString('latin1') ?? '';
  }

  /** Smallest possible sub_id of a retained session; an empty string if every session is retained. */
  get firstRetainedSubId(): SubIdSortKey {
    return this.#retainedSessions.firstRetainedSubId;
  }

  /** Returns the session, or null for an unknown session. */
  findSession(key: SubIdSortKey): SessionState | null {
    if (key > this.#newestKey) return null;
    const cached = this.#sessionCache.get(key);
    if (cached !== undefined) return cached;
    const row = this.#findSession.get(Buffer.from(key, 'latin1'));
    if (row === undefined) return null;
    const [experiment, position, device, views, clicks, shown, lastEventMs, events] = row;
    return {
      key,
      position,
      experiment,
      device,
      views,
      shownOffers: decodeVarints(shown),
      clickedOffers: clicks === 0 ? [] : this.#findClicks.all(position),
      widgetEvents: events === null ? null : decodeVarints(events),
      lastEventMs,
    };
  }

  /**
   * Returns the counted click of a session on an offer, or null if there is no counted click. Clicks and payouts are not cached, because
   * only confirmations and some repeated clicks read them, and these are rare.
   */
  findClick(session: number, offer: number): CountedClick | null {
    const row = this.#selectClick.get(session, offer);
    if (row === undefined) return null;
    const [lender, clickedMs, attributedMicros, booking, unbookedReasons, payoutMicros] = row;
    return { session, offer, lender, clickedMs, attributedMicros, booking, unbookedReasons, payoutMicros };
  }

  /** Returns the confirmed revenue of a click in micro-dollars; 0 without a counted click. */
  clickRevenueMicros(session: number, offer: number): number {
    return this.#selectClickRevenue.get(session, offer) ?? 0;
  }

  /** Returns the confirmed revenue of a session in micro-dollars. */
  sessionRevenueMicros(session: number): number {
    return this.#selectSessionRevenue.get(session)!;
  }

  findPayout(session: number, offer: number, txid: string): ConfirmedPayout | null {
    const row = this.#selectPayout.get(session, offer, txid);
    if (row === undefined) return null;
    const [fundedMicros, fundedMs, reversedMicros, reversedMs] = row;
    const funded = { amountMicros: fundedMicros, occurredMs: fundedMs };
    if (reversedMicros === null || reversedMs === null) return { funded, reversed: null };
    return { funded, reversed: { amountMicros: reversedMicros, occurredMs: reversedMs } };
  }

  /** Whether a click has a payout, with any txid, even if the payout is reversed. */
  isFunded(session: number, offer: number): boolean {
    return this.#selectIsFunded.get(session, offer) === 1;
  }

  findClickReversal(session: number, offer: number, txid: string): ClickReversal | null {
    const row = this.#selectReversal.get(session, offer, txid);
    if (row === undefined) return null;
    const [amountMicros, occurredMs, reason] = row;
    return { amountMicros, occurredMs, reason: reversalReasons[reason]! };
  }

  /** Returns the payout states according to the ledger records that are already applied. */
  findPayoutStates(keys: readonly PayoutKey[]): PayoutStateWithLender[] {
    return keys.map((key) => this.#findPayoutState(key));
  }

  #findPayoutState({ sub, offerId, txid }: PayoutKey): PayoutStateWithLender {
    const key = toSubIdSortKey(sub);
    const session = key < this.firstRetainedSubId ? null : this.findSession(key);
    if (session === null) return emptyPayoutState;
    const { position, shownOffers } = session;
    const sessionRevenueMicros = this.sessionRevenueMicros(position);
    const offer = this.offers.find(offerId);
    if (offer === null) return { ...emptyPayoutState, sessionRevenueMicros };
    const click = this.findClick(position, offer);
    return {
      offerShown: shownOffers.includes(offer),
      clickedMs: click?.clickedMs ?? null,
      lenderName: click === null ? null : this.#selectLenderName.get(click.lender)!,
      sessionRevenueMicros,
      clickRevenueMicros:
        click?.booking === clickBookingState.confirmed ? this.clickRevenueMicros(position, offer) : null,
      clickPayoutMicros: click?.payoutMicros ?? null,
      isFunded: this.isFunded(position, offer),
      payout: this.findPayout(position, offer, txid),
      clickReversal: this.findClickReversal(position, offer, txid),
    };
  }

  /** Returns the row ID of an experiment (docs/contract.md#tenants). Creates the experiment if it does not exist. */
  assignExperimentNumber(account: number, vertical: number, test: boolean, tag: string): number {
    return this.#experiments.findOrInsertRow(`${account} ${vertical} ${test} ${tag}`, [
      account,
      vertical,
      test ? 1 : 0,
      tag,
    ]);
  }

  /**
   * Adds the metadata of a session. Metadata rows may be written before the batch ends, because the metadata of a whole batch might not fit
   * in memory.
   */
  addSessionMetadata(session: number, json: string): void {
    this.#metadataWriter.add([session, json]);
  }

  flushSessionMetadata(): void {
    this.#metadataWriter.flush();
  }

  /** Caches the sessions of a committed batch, because views and clicks of these sessions usually follow soon. */
  cacheSessions({ changedSessions }: LedgerProjection): void {
    for (const session of changedSessions.values()) {
      this.#sessionCache.set(session.key, session);
      if (session.key > this.#newestKey) this.#newestKey = session.key;
    }
  }
}
