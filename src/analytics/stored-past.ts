import type { Database, Statement } from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import { bounds } from '../bounds.ts';
import type { Payout } from '../confirmations/confirmation.ts';
import type { KeptSessions } from './kept-sessions.ts';
import type { FoldedSession, FoldPast, LedgerFold, SubKey } from './ledger-fold.ts';
import { RowWriter } from './row-writer.ts';
import type { StoredClick, StoredRevenue } from './stored-revenue.ts';
import { decodeVarints } from './varints.ts';

type SessionRow = [
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
export class StoredPast implements FoldPast {
  readonly #kept: KeptSessions;
  readonly #revenue: StoredRevenue;
  readonly #sessions = new LRUCache<SubKey, FoldedSession>({ max: bounds.foldSessionsCached });
  readonly #experiments = new LRUCache<string, number>({ max: bounds.foldNamesCached });
  readonly #offers = new LRUCache<string, number>({ max: bounds.foldNamesCached });
  readonly #lenders = new LRUCache<string, number>({ max: bounds.foldNamesCached });
  readonly #findSession: Statement<[Buffer], SessionRow>;
  readonly #findClicks: Statement<[number], number>;
  readonly #findExperiment: Statement<[number, number, number, string], number>;
  readonly #addExperiment: Statement<[number, number, number, string]>;
  readonly #findOffer: Statement<[string], number>;
  readonly #addOffer: Statement<[string]>;
  readonly #findLender: Statement<[string], number>;
  readonly #addLender: Statement<[string]>;
  readonly #metadata: RowWriter;
  /** The last session in the order of keys: most new ones come after it, and need not be looked for. */
  #lastKey: SubKey;

  constructor(database: Database, revenue: StoredRevenue, kept: KeptSessions) {
    this.#kept = kept;
    this.#revenue = revenue;
    this.#findSession = database
      .prepare<[Buffer], SessionRow>(
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
    this.#metadata = new RowWriter(database, 'session_metadata', ['session', 'json']);
    const last = database.prepare<[], Buffer | null>('SELECT max(sub) FROM session').pluck().get();
    this.#lastKey = last?.toString('latin1') ?? '';
  }

  get keptFrom(): SubKey {
    return this.#kept.fromKey;
  }

  findSession(key: SubKey): FoldedSession | null {
    if (key > this.#lastKey) return null;
    const cached = this.#sessions.get(key);
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
      shown: decodeVarints(shown),
      clicked: clicks === 0 ? [] : this.#findClicks.all(position),
      widgetEvents: events === null ? null : decodeVarints(events),
      lastEventMs,
    };
  }

  experimentNumber(account: number, vertical: number, test: boolean, tag: string): number {
    const key = `${account} ${vertical} ${test} ${tag}`;
    const cached = this.#experiments.get(key);
    if (cached !== undefined) return cached;
    const mode = test ? 1 : 0;
    const number =
      this.#findExperiment.get(account, vertical, mode, tag) ??
      Number(this.#addExperiment.run(account, vertical, mode, tag).lastInsertRowid);
    this.#experiments.set(key, number);
    return number;
  }

  offerNumber(offerId: string): number {
    const known = this.findOffer(offerId);
    if (known !== null) return known;
    const number = Number(this.#addOffer.run(offerId).lastInsertRowid);
    this.#offers.set(offerId, number);
    return number;
  }

  findOffer(offerId: string): number | null {
    const cached = this.#offers.get(offerId);
    if (cached !== undefined) return cached;
    const number = this.#findOffer.get(offerId);
    if (number === undefined) return null;
    this.#offers.set(offerId, number);
    return number;
  }

  lenderNumber(lenderName: string): number {
    const cached = this.#lenders.get(lenderName);
    if (cached !== undefined) return cached;
    const number = this.#findLender.get(lenderName) ?? Number(this.#addLender.run(lenderName).lastInsertRowid);
    this.#lenders.set(lenderName, number);
    return number;
  }

  findClick(session: number, offer: number): StoredClick | null {
    return this.#revenue.findClick(session, offer);
  }

  sessionMicros(session: number): number {
    return this.#revenue.sessionMicros(session);
  }

  findPayout(session: number, offer: number, txid: string): Payout | null {
    return this.#revenue.findPayout(session, offer, txid);
  }

  keepMetadata(session: number, json: string): void {
    this.#metadata.add([session, json]);
  }

  /** Writes what `keepMetadata` was given and has not written yet. */
  flush(): void {
    this.#metadata.flush();
  }

  /** Keeps the sessions of a committed batch at hand: their views and clicks come soon. */
  remember(fold: LedgerFold): void {
    for (const session of fold.sessions.values()) {
      this.#sessions.set(session.key, session);
      if (session.key > this.#lastKey) this.#lastKey = session.key;
    }
  }
}
