import type { Database, Statement } from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import { bounds } from '../bounds.ts';
import type { Payout } from '../confirmations/confirmation.ts';
import type { RetainedSessions } from './kept-sessions.ts';
import type { ProjectedSession, ProjectionState, LedgerProjection, SubIdKey } from './ledger-fold.ts';
import { RowWriter } from './row-writer.ts';
import type { StoredClick, SqliteRevenueState } from './stored-revenue.ts';
import { decodeVarints } from './varints.ts';

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

/** What the fold asks of the past, from the file, with caches of fixed size before it: memory does not grow with history. */
export class SqliteProjectionState implements ProjectionState {
  readonly #retainedSessions: RetainedSessions;
  readonly #revenueState: SqliteRevenueState;
  readonly #sessionCache = new LRUCache<SubIdKey, ProjectedSession>({ max: bounds.projectionSessionCacheEntriesMax });
  readonly #experimentCache = new LRUCache<string, number>({ max: bounds.projectionNameCacheEntriesMax });
  readonly #offerCache = new LRUCache<string, number>({ max: bounds.projectionNameCacheEntriesMax });
  readonly #lenderCache = new LRUCache<string, number>({ max: bounds.projectionNameCacheEntriesMax });
  readonly #findSession: Statement<[Buffer], ProjectedSessionRow>;
  readonly #findClicks: Statement<[number], number>;
  readonly #findExperiment: Statement<[number, number, number, string], number>;
  readonly #addExperiment: Statement<[number, number, number, string]>;
  readonly #findOffer: Statement<[string], number>;
  readonly #addOffer: Statement<[string]>;
  readonly #findLender: Statement<[string], number>;
  readonly #addLender: Statement<[string]>;
  readonly #metadataWriter: RowWriter;
  /** The last session in the order of keys: most new ones come after it, and need not be looked for. */
  #newestKey: SubIdKey;

  constructor(database: Database, revenueState: SqliteRevenueState, retainedSessions: RetainedSessions) {
    this.#retainedSessions = retainedSessions;
    this.#revenueState = revenueState;
    this.#findSession = database
      .prepare<[Buffer], ProjectedSessionRow>(
        `SELECT experiment, position, device, views, clicks, shown, last_event_ms, widget_events
        FROM session WHERE sub = ?`,
      )
      .raw();
    this.#findClicks = database.prepare<[number], number>('SELECT offer FROM click WHERE session = ?').pluck();
    this.#findExperiment = database
      .prepare<[number, number, number, string], number>(
        'SELECT number FROM experiment WHERE account = ? AND vertical = ? AND test = ? AND tag = ?',
      )
      .pluck();
    this.#addExperiment = database.prepare('INSERT INTO experiment (account, vertical, test, tag) VALUES (?, ?, ?, ?)');
    this.#findOffer = database.prepare<[string], number>('SELECT number FROM offer WHERE id = ?').pluck();
    this.#addOffer = database.prepare('INSERT INTO offer (id) VALUES (?)');
    this.#findLender = database.prepare<[string], number>('SELECT number FROM lender WHERE name = ?').pluck();
    this.#addLender = database.prepare('INSERT INTO lender (name) VALUES (?)');
    this.#metadataWriter = new RowWriter(database, 'session_metadata', ['session', 'json']);
    const last = database.prepare<[], Buffer | null>('SELECT max(sub) FROM session').pluck().get();
    this.#newestKey = last?.toString('latin1') ?? '';
  }

  get retainedFromKey(): SubIdKey {
    return this.#retainedSessions.fromKey;
  }

  findSession(key: SubIdKey): ProjectedSession | null {
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

  assignExperimentNumber(account: number, vertical: number, test: boolean, tag: string): number {
    const key = `${account} ${vertical} ${test} ${tag}`;
    const cached = this.#experimentCache.get(key);
    if (cached !== undefined) return cached;
    const mode = test ? 1 : 0;
    const number =
      this.#findExperiment.get(account, vertical, mode, tag) ??
      Number(this.#addExperiment.run(account, vertical, mode, tag).lastInsertRowid);
    this.#experimentCache.set(key, number);
    return number;
  }

  assignOfferNumber(offerId: string): number {
    const known = this.findOfferNumber(offerId);
    if (known !== null) return known;
    const number = Number(this.#addOffer.run(offerId).lastInsertRowid);
    this.#offerCache.set(offerId, number);
    return number;
  }

  findOfferNumber(offerId: string): number | null {
    const cached = this.#offerCache.get(offerId);
    if (cached !== undefined) return cached;
    const number = this.#findOffer.get(offerId);
    if (number === undefined) return null;
    this.#offerCache.set(offerId, number);
    return number;
  }

  assignLenderNumber(lenderName: string): number {
    const cached = this.#lenderCache.get(lenderName);
    if (cached !== undefined) return cached;
    const number = this.#findLender.get(lenderName) ?? Number(this.#addLender.run(lenderName).lastInsertRowid);
    this.#lenderCache.set(lenderName, number);
    return number;
  }

  findClick(session: number, offer: number): StoredClick | null {
    return this.#revenueState.findClick(session, offer);
  }

  sessionRevenueMicros(session: number): number {
    return this.#revenueState.sessionRevenueMicros(session);
  }

  findPayout(session: number, offer: number, txid: string): Payout | null {
    return this.#revenueState.findPayout(session, offer, txid);
  }

  addMetadata(session: number, json: string): void {
    this.#metadataWriter.add([session, json]);
  }

  /** Writes what `addMetadata` was given and has not written yet. */
  flushMetadata(): void {
    this.#metadataWriter.flush();
  }

  /** Keeps the sessions of a committed batch at hand: their views and clicks come soon. */
  cacheSessions(fold: LedgerProjection): void {
    for (const session of fold.changedSessions.values()) {
      this.#sessionCache.set(session.key, session);
      if (session.key > this.#newestKey) this.#newestKey = session.key;
    }
  }
}
