import { LRUCache } from 'lru-cache';
import { bounds } from '../bounds.ts';
import type { ClickReversal, ConfirmedPayout, PayoutTransaction } from '../confirmations/confirmation.ts';
import type { PayoutKey, PayoutStateWithLender } from '../confirmations/payout-state.ts';
import { daysSinceEpoch } from '../domain/calendar.ts';
import { getOrAdd } from '../domain/get-or-add.ts';
import type { LogCursor } from '../event-log/log-scanner.ts';
import { decodeSubId } from '../ids/sub-id.ts';
import { reversalReasons } from '../ledger/ledger-record.ts';
import { recordCountColumns } from './analytics-database.ts';
import { DailyCounters } from './daily-counters.ts';
import { ExperimentSums } from './experiments/experiment-sums.ts';
import { type LedgerProjection, readPayoutState } from './ledger-projection.ts';
import {
  type AcceptedTransaction,
  type CountedClick,
  type NumberedNames,
  type ProjectionState,
  recordCountNames,
  type SessionState,
  type SubIdSortKey,
  toSubIdSortKey,
} from './projection-state.ts';
import { readSessionActivity } from './session-activity.ts';
import {
  createIncrementSql,
  decodeVarints,
  encodeVarints,
  RowWriter,
  type SqlDatabase,
  type SqlValue,
} from './sql-database.ts';

/** Database table that assigns a number, the row ID, to each combination of column values. Row IDs are cached. */
class NumberTable implements NumberedNames {
  readonly #database: SqlDatabase;
  readonly #cache = new Map<string, number>();
  readonly #selectSql: string;
  readonly #insertSql: string;

  constructor(database: SqlDatabase, table: string, columns: readonly string[]) {
    this.#database = database;
    const condition = columns.map((column) => `${column} = ?`).join(' AND ');
    this.#selectSql = `SELECT number FROM ${table} WHERE ${condition}`;
    const placeholders = columns.map(() => '?').join(', ');
    this.#insertSql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${placeholders})`;
  }

  /** Returns the ID of the row with the column values `values`, or null if the row does not exist. `key` is the cache key of the row. */
  find(key: string, values: readonly SqlValue[] = [key]): number | null {
    const cached = this.#cache.get(key);
    if (cached !== undefined) return cached;
    const number = this.#database.value<number>(this.#selectSql, values);
    if (number !== null) this.#addToCache(key, number);
    return number;
  }

  /** Returns the ID of the row with the column values `values`. Inserts a new row if no row has these values. */
  findOrInsert(key: string, values: readonly SqlValue[] = [key]): number {
    const existing = this.find(key, values);
    if (existing !== null) return existing;
    const number = Number(this.#database.run(this.#insertSql, values).lastInsertRowid);
    this.#addToCache(key, number);
    return number;
  }

  #addToCache(key: string, number: number): void {
    if (this.#cache.size >= bounds.projectionNameCacheEntriesMax) this.#cache.clear();
    this.#cache.set(key, number);
  }
}

type SessionRow = [
  tagNumber: number,
  position: number,
  device: number,
  views: number,
  clicks: number,
  shown: Uint8Array | null,
  lastEventMs: number,
  widgetEvents: Uint8Array | null,
];
type PayoutRow = [fundedMicros: number, fundedMs: number, reversedMicros: number | null, reversedMs: number | null];

const updateProgressSql = `
  INSERT INTO progress VALUES (1, ?, ?, ?, ?, ?, ${recordCountColumns.map(() => '?').join(', ')})
  ON CONFLICT DO UPDATE SET position = excluded.position, segment = excluded.segment, "offset" = excluded."offset",
    crc = excluded.crc, last_wall_ms = coalesce(excluded.last_wall_ms, last_wall_ms),
    ${createIncrementSql(recordCountColumns)}`;

const unknownPayoutState: PayoutStateWithLender = {
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

/**
 * State of the projection in the analytics store (adapter). All changes must run in the transaction of the batch. The sessions and the
 * counters of a batch are written once, by `writeBatch`; all other changes are written earlier, because confirmations may read them. Caches
 * have a fixed size, so that memory use does not grow with the ledger.
 */
export class SqliteProjectionState implements ProjectionState {
  readonly #database: SqlDatabase;
  readonly counters: DailyCounters;
  readonly experimentSums: ExperimentSums;
  readonly #tags: NumberTable;
  readonly offers: NumberTable;
  readonly lenders: NumberTable;
  readonly #sessionWriter: RowWriter;
  readonly #cohortPieceWriter: RowWriter;
  readonly #metadataWriter: RowWriter;
  readonly #clickWriter: RowWriter;
  readonly #sessionCache = new LRUCache<SubIdSortKey, SessionState>({
    max: bounds.projectionSessionCacheEntriesMax,
  });
  /** Greatest sub_id in the store. `findSession` needs no database query for a greater sub_id, which most new sessions have. */
  #newestKey: SubIdSortKey;
  /** Sessions that the current batch changes or creates. */
  readonly #changedSessions = new Map<SubIdSortKey, SessionState>();
  /** Sessions that the current batch creates, in ledger order, by tag and cohort day. */
  readonly #newSessions = new Map<number, SessionState[]>();
  /** Maps the first sequence number of a ledger segment to the latest cohort day of the sessions created in the segment. */
  readonly #lastCohortDayBySegment = new Map<number, number>();

  constructor(database: SqlDatabase) {
    this.#database = database;
    this.counters = new DailyCounters(database);
    this.experimentSums = new ExperimentSums(
      database,
      (session) => {
        if (session.clickedOffers.length > 0) this.#clickWriter.flush();
        return readSessionActivity(database, session);
      },
      ({ position }) => {
        this.#metadataWriter.flush();
        return database.value<string>('SELECT json FROM session_metadata WHERE session = ?', [position]);
      },
    );
    this.#tags = new NumberTable(database, 'referrer_tag', ['account', 'vertical', 'test', 'tag']);
    this.offers = new NumberTable(database, 'offer', ['id']);
    this.lenders = new NumberTable(database, 'lender', ['name']);
    this.#sessionWriter = new RowWriter(
      database,
      'session',
      ['sub', 'tag_number', 'position', 'device', 'views', 'clicks', 'shown', 'last_event_ms', 'widget_events'],
      `ON CONFLICT DO UPDATE SET views = excluded.views, clicks = excluded.clicks, shown = excluded.shown,
        last_event_ms = excluded.last_event_ms, widget_events = excluded.widget_events`,
    );
    const pieceColumns = ['tag_number', 'day', 'last_position', 'first_position', 'subs'];
    this.#cohortPieceWriter = new RowWriter(database, 'cohort_piece', pieceColumns);
    this.#metadataWriter = new RowWriter(database, 'session_metadata', ['session', 'json']);
    const changingColumns = ['clicked_ms', 'attributed_micros', 'confirmed_micros', 'booking', 'unbooked_reasons'];
    this.#clickWriter = new RowWriter(
      database,
      'click',
      ['session', 'offer', 'lender', 'payout_micros', ...changingColumns],
      `ON CONFLICT DO UPDATE SET ${changingColumns.map((column) => `${column} = excluded.${column}`).join(', ')}`,
    );
    this.#newestKey = database.value<Buffer>('SELECT max(sub) FROM session')?.toString('latin1') ?? '';
  }

  findSession(key: SubIdSortKey): SessionState | null {
    const changed = this.#changedSessions.get(key);
    if (changed !== undefined) return changed;
    if (key > this.#newestKey) return null;
    return this.#sessionCache.get(key) ?? this.#readSession(key);
  }

  #readSession(key: SubIdSortKey): SessionState | null {
    const sub = Buffer.from(key, 'latin1');
    const row = this.#database.row<SessionRow>(
      `SELECT tag_number, position, device, views, clicks, shown, last_event_ms, widget_events FROM session WHERE sub = ?`,
      [sub],
    );
    if (row === null) return null;
    const [tagNumber, position, device, views, clicks, shown, lastEventMs, events] = row;
    const { createdMs, mode } = decodeSubId(sub);
    const clickedOffers =
      clicks === 0 ? [] : this.#database.rows<[number]>('SELECT offer FROM click WHERE session = ?', [position]).flat();
    return {
      key,
      position,
      tagNumber,
      device,
      createdMs,
      isTest: mode === 'test',
      views,
      shownOffers: decodeVarints(shown),
      clickedOffers,
      widgetEvents: events === null ? null : decodeVarints(events),
      lastEventMs,
      revenueMicros: null,
    };
  }

  /** Writes the metadata at once, because the metadata of a whole batch might not fit in memory. */
  addSession(session: SessionState, segment: number, metadata: string | null): void {
    const { key, position, tagNumber, createdMs } = session;
    this.#changedSessions.set(key, session);
    if (metadata !== null) this.#metadataWriter.add([position, metadata]);
    const day = daysSinceEpoch(createdMs);
    const cohort = tagNumber * 2 ** 22 + day;
    getOrAdd(this.#newSessions, cohort, () => []).push(session);
    this.#lastCohortDayBySegment.set(segment, Math.max(day, this.#lastCohortDayBySegment.get(segment) ?? 0));
  }

  saveSession(session: SessionState): void {
    this.#changedSessions.set(session.key, session);
  }

  readSessionRevenue(session: number): number {
    const sql = 'SELECT coalesce(sum(confirmed_micros), 0) FROM click WHERE session = ?';
    return this.#database.value<number>(sql, [session])!;
  }

  /** Clicks and payouts are not cached, because only confirmations and some repeated clicks read them, and these are rare. */
  findClick(session: number, offer: number): CountedClick | null {
    this.#clickWriter.flush();
    return this.#database.object<CountedClick>(
      `SELECT session, offer, lender, clicked_ms AS clickedMs, attributed_micros AS attributedMicros,
          confirmed_micros AS confirmedMicros, booking, unbooked_reasons AS unbookedReasons, payout_micros AS payoutMicros
        FROM click WHERE session = ? AND offer = ?`,
      [session, offer],
    );
  }

  saveClick({ session, offer, lender, payoutMicros, ...click }: CountedClick): void {
    const { clickedMs, attributedMicros, confirmedMicros, booking, unbookedReasons } = click;
    const changing = [clickedMs, attributedMicros, confirmedMicros, booking, unbookedReasons];
    this.#clickWriter.add([session, offer, lender, payoutMicros, ...changing]);
  }

  findPayout(session: number, offer: number, txid: string): ConfirmedPayout | null {
    const row = this.#database.row<PayoutRow>(
      `SELECT funded_micros, funded_ms, reversed_micros, reversed_ms FROM payout
        WHERE session = ? AND offer = ? AND txid = ?`,
      [session, offer, txid],
    );
    if (row === null) return null;
    const [fundedMicros, fundedMs, reversedMicros, reversedMs] = row;
    const funded = { amountMicros: fundedMicros, occurredMs: fundedMs };
    if (reversedMicros === null || reversedMs === null) return { funded, reversed: null };
    return { funded, reversed: { amountMicros: reversedMicros, occurredMs: reversedMs } };
  }

  addPayout(session: number, offer: number, txid: string, funded: AcceptedTransaction): void {
    const { amountMicros, occurredMs, acceptedMs } = funded;
    const row = [session, offer, txid, amountMicros, occurredMs, acceptedMs];
    this.#database.run('INSERT INTO payout VALUES (?, ?, ?, ?, ?, ?, NULL, NULL, NULL)', row);
  }

  addPayoutReversal(session: number, offer: number, txid: string, reversal: AcceptedTransaction): void {
    const { amountMicros, occurredMs, acceptedMs } = reversal;
    this.#database.run(
      `UPDATE payout SET reversed_micros = ?, reversed_ms = ?, reversed_accepted_ms = ?
        WHERE session = ? AND offer = ? AND txid = ?`,
      [amountMicros, occurredMs, acceptedMs, session, offer, txid],
    );
  }

  isFunded(session: number, offer: number): boolean {
    const sql = 'SELECT EXISTS (SELECT 1 FROM payout WHERE session = ? AND offer = ?)';
    return this.#database.value<number>(sql, [session, offer]) === 1;
  }

  findClickReversal(session: number, offer: number, txid: string): ClickReversal | null {
    const row = this.#database.object<PayoutTransaction & { readonly reason: number }>(
      `SELECT reversed_micros AS amountMicros, reversed_ms AS occurredMs, reason FROM click_reversal
        WHERE session = ? AND offer = ? AND txid = ?`,
      [session, offer, txid],
    );
    return row === null ? null : { ...row, reason: reversalReasons[row.reason]! };
  }

  addClickReversal(session: number, offer: number, txid: string, reversal: ClickReversal & AcceptedTransaction): void {
    const { amountMicros, occurredMs, acceptedMs, reason } = reversal;
    const row = [session, offer, txid, amountMicros, occurredMs, reversalReasons.indexOf(reason), acceptedMs];
    this.#database.run('INSERT INTO click_reversal VALUES (?, ?, ?, ?, ?, ?, ?)', row);
  }

  assignTagNumber(account: number, vertical: number, isTest: boolean, tag: string): number {
    const columns = [account, vertical, isTest ? 1 : 0, tag];
    return this.#tags.findOrInsert(columns.join(' '), columns);
  }

  /** Returns the payout states according to the ledger records that are already applied. Sessions before `firstRetainedSubId` are unknown. */
  findPayoutStates(keys: readonly PayoutKey[], firstRetainedSubId: SubIdSortKey): PayoutStateWithLender[] {
    return keys.map(({ sub, offerId, txid }) => {
      const key = toSubIdSortKey(sub);
      const session = key < firstRetainedSubId ? null : this.findSession(key);
      if (session === null) return unknownPayoutState;
      const offer = this.offers.find(offerId) ?? -1;
      const click = this.findClick(session.position, offer);
      const lenderSql = 'SELECT name FROM lender WHERE number = ?';
      const lenderName = click === null ? null : this.#database.value<string>(lenderSql, [click.lender])!;
      return { ...readPayoutState(this, session, { offer, txid, click }), lenderName };
    });
  }

  /** Writes the changes of a batch that are not written yet, and the ledger cursor after the batch. */
  writeBatch({ totals, lastWallMs }: LedgerProjection, { position, segment, offset, crc }: LogCursor): void {
    this.#writeSessions();
    this.#writeNewSessions();
    this.#metadataWriter.flush();
    this.#clickWriter.flush();
    this.counters.writeChanges();
    this.experimentSums.writeChanges();
    for (const [first, lastDay] of this.#lastCohortDayBySegment) {
      this.#database.run(
        'INSERT INTO ledger_segment VALUES (?, ?) ON CONFLICT DO UPDATE SET last_day = max(last_day, excluded.last_day)',
        [first, lastDay],
      );
    }
    this.#lastCohortDayBySegment.clear();
    const counts = recordCountNames.map((name) => totals[name]);
    this.#database.run(updateProgressSql, [position, segment, offset, crc, lastWallMs, ...counts]);
  }

  /** Caches the sessions of a committed batch, because views and clicks of these sessions usually follow soon. */
  cacheSessions(): void {
    for (const session of this.#changedSessions.values()) {
      this.#sessionCache.set(session.key, session);
      if (session.key > this.#newestKey) this.#newestKey = session.key;
    }
    this.#changedSessions.clear();
  }

  /** Writes the sessions in the order of their keys, so that adjacent rows of the table are written together. */
  #writeSessions(): void {
    for (const session of [...this.#changedSessions.values()].sort((a, b) => (a.key < b.key ? -1 : 1))) {
      const { key, tagNumber, position, device, views, clickedOffers, shownOffers, lastEventMs, widgetEvents } =
        session;
      const sub = Buffer.from(key, 'latin1');
      const events = widgetEvents === null ? null : encodeVarints(widgetEvents);
      const shown = encodeVarints(shownOffers);
      const clicks = clickedOffers.length;
      this.#sessionWriter.add([sub, tagNumber, position, device, views, clicks, shown, lastEventMs, events]);
    }
    this.#sessionWriter.flush();
  }

  #writeNewSessions(): void {
    for (const sessions of this.#newSessions.values()) {
      const { tagNumber, createdMs } = sessions[0]!;
      for (let start = 0; start < sessions.length; start += bounds.cohortRowSessionsMax) {
        const piece = sessions.slice(start, start + bounds.cohortRowSessionsMax);
        const subs = Buffer.from(piece.map(({ key }) => key).join(''), 'latin1');
        const day = daysSinceEpoch(createdMs);
        this.#cohortPieceWriter.add([tagNumber, day, piece.at(-1)!.position, piece[0]!.position, subs]);
      }
    }
    this.#cohortPieceWriter.flush();
    this.#newSessions.clear();
  }
}
