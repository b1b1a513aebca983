import type { Database, Statement } from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import { bounds } from '../bounds.ts';
import type { Payout } from '../confirmations/confirmation.ts';
import type { AskedPayout, KnownPayout } from '../confirmations/confirmation-history.ts';
import type { LogCursor } from '../events/log-reader.ts';
import type { DailyFigures, RowsPage, RowsQuery, SummaryFigures, SummaryQuery } from './analytics.ts';
import { openAnalyticsDatabase } from './analytics-schema.ts';
import { DailyReader } from './daily-reader.ts';
import { KeptSessions } from './kept-sessions.ts';
import { type FoldedSession, type FoldPast, type FoldTotals, LedgerFold, type SubKey } from './ledger-fold.ts';
import { LedgerSegments } from './ledger-segments.ts';
import { decodeOfferNumbers, encodeOfferNumbers } from './offer-numbers.ts';
import { RowWriter, type SqlValue } from './row-writer.ts';
import { RowsReader } from './rows-reader.ts';
import type { SealedFigures } from './sealed-figures.ts';
import { SessionPruner } from './session-pruner.ts';
import { StoredCounters } from './stored-counters.ts';
import { type StoredClick, StoredRevenue } from './stored-revenue.ts';
import { StoredSessions } from './stored-sessions.ts';
import { SummaryReader } from './summary-reader.ts';

/**
 * The analytics figures in a SQLite file. One thread owns it. Counters, sessions and the place in the ledger they follow
 * from are committed together, so whatever ends the process, each record has counted exactly once when the follower goes on
 * from `cursor`.
 *
 * A batch that throws leaves the file as it was but not the memory of this object: close it and open another.
 */
export class AnalyticsStore {
  readonly #database: Database;
  readonly #kept: KeptSessions;
  readonly #pruner: SessionPruner;
  readonly #counters: StoredCounters;
  readonly #segments: LedgerSegments;
  readonly #cohortBefore: Statement<[number], number | null>;
  readonly #cohortFrom: Statement<[number], number | null>;
  readonly #past: StoredPast;
  readonly #writer: BatchWriter;
  readonly #summaries: SummaryReader;
  readonly #revenue: StoredRevenue;
  readonly #days: DailyReader;
  readonly #rows: RowsReader;
  readonly #atOnce: <Answer>(read: () => Answer) => Answer;
  readonly #progress: Statement<[], ProgressRow>;
  #cursor: LogCursor | null;

  /** Opens or creates the file. Throws `OtherStoreFormat`, or what SQLite throws. */
  constructor(file: string) {
    this.#database = openAnalyticsDatabase(file);
    try {
      this.#kept = new KeptSessions(this.#database);
      this.#pruner = new SessionPruner(this.#database, this.#kept);
      this.#counters = new StoredCounters(this.#database);
      this.#segments = new LedgerSegments(this.#database);
      this.#cohortBefore = this.#database
        .prepare<[number], number | null>('SELECT max(day) FROM cohort_piece WHERE day < ?')
        .pluck();
      this.#cohortFrom = this.#database
        .prepare<[number], number | null>('SELECT min(day) FROM cohort_piece WHERE day >= ?')
        .pluck();
      this.#revenue = new StoredRevenue(this.#database, this.#kept);
      this.#past = new StoredPast(this.#database, this.#revenue, this.#kept);
      this.#writer = new BatchWriter(this.#database, this.#counters, this.#segments);
      const sessions = new StoredSessions(this.#database, this.#kept);
      this.#summaries = new SummaryReader(this.#database, sessions);
      this.#days = new DailyReader(this.#database, sessions);
      this.#rows = new RowsReader(this.#database, sessions);
      // In one transaction: otherwise SQLite locks its file anew for every statement.
      const transaction = this.#database.transaction((read: () => unknown) => read());
      this.#atOnce = (read) => transaction(read) as ReturnType<typeof read>;
      this.#progress = this.#database.prepare('SELECT * FROM progress');
      const row = this.#progress.get();
      this.#cursor = row ? { position: row.position, segment: row.segment, offset: row.offset, crc: row.crc } : null;
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Where in the ledger the figures stand; null before the first record. */
  get cursor(): LogCursor | null {
    return this.#cursor;
  }

  get foldedPosition(): number {
    return this.#cursor?.position ?? 0;
  }

  /** One transaction: `read` folds records and returns the cursor after them. */
  foldBatch(read: (fold: LedgerFold) => LogCursor): void {
    const fold = new LedgerFold(this.#past);
    this.#cursor = this.#database
      .transaction(() => {
        const cursor = read(fold);
        this.#past.flush();
        this.#writer.write(fold, cursor);
        return cursor;
      })
      .immediate();
    this.#past.remember(fold);
  }

  /** The first day (day number) whose sessions are kept; 0 when all are. */
  get keptFromDay(): number {
    return this.#kept.fromDay;
  }

  /**
   * Gives up the sessions that have come of age, if there are any: seals the counters of their days, as the records followed so
   * far make them, and keeps them no longer. Throws what `SealedFigures.seal` does; then nothing has changed.
   */
  seal(sealed: SealedFigures, age: Age): void {
    // Were sealings lost, the store still has their counters, and they are sealed once more.
    const untilDay = Math.max(this.#dayToKeepFrom(age), this.#kept.fromDay);
    if (untilDay <= sealed.keptFromDay) return;
    const { wallMs } = age;
    const ledgerFrom = this.#firstSegmentWith(untilDay);
    const counters = this.#counters.between(sealed.keptFromDay, untilDay);
    sealed.seal({ wallMs, untilDay, ledgerFrom }, counters);
    this.#database.transaction(() => this.#keepFrom(untilDay)).immediate();
  }

  /** Takes over what was sealed, if the store does not know of it: it is new, or older than the last sealing. */
  adopt(sealed: SealedFigures): void {
    const { keptFromDay } = sealed;
    if (keptFromDay <= this.#kept.fromDay) return;
    this.#database
      .transaction(() => {
        this.#counters.replace(keptFromDay, sealed.records(), this.#past);
        this.#keepFrom(keptFromDay);
      })
      .immediate();
  }

  /**
   * What comes before this position of the ledger is not needed, neither by the store nor to derive it from nothing. The
   * ledger as it is now decides: it may have begun anew since the last sealing.
   */
  neededFrom(sealed: SealedFigures): number {
    return Math.min(sealed.ledgerFrom, this.#firstSegmentWith(sealed.keptFromDay));
  }

  /** Whether rows of sessions that are not kept may be left. */
  get mustPrune(): boolean {
    return this.#pruner.mustPrune;
  }

  /** Removes some of them: a few milliseconds' work. */
  prune(): void {
    this.#pruner.prune();
  }

  /**
   * 0 when there is nothing to give up. Days must have passed by the sessions of the ledger, too, and not just by one day's: or
   * a single start with a clock that is months ahead would give up everything.
   */
  #dayToKeepFrom({ today, days }: Age): number {
    const newest = this.#cohortBefore.get(Number.MAX_SAFE_INTEGER) ?? null;
    const beforeNewest = newest === null ? null : (this.#cohortBefore.get(newest) ?? null);
    const oldest = this.#cohortFrom.get(this.#kept.fromDay) ?? null;
    if (oldest === null || beforeNewest === null) return 0;
    const day = Math.min(today, beforeNewest + 1) - days;
    return oldest < day ? day : 0;
  }

  #firstSegmentWith(day: number): number {
    const { segment } = this.#cursor ?? { segment: 0 };
    return Math.min(segment, this.#segments.firstWith(day) ?? segment);
  }

  #keepFrom(day: number): void {
    this.#kept.keepFrom(day);
    this.#segments.forgetBefore(day);
  }

  summary(query: SummaryQuery): SummaryFigures {
    return this.#atOnce(() => this.#summaries.summary(query));
  }

  daily(query: SummaryQuery): DailyFigures {
    return this.#atOnce(() => this.#days.daily(query));
  }

  rows(query: RowsQuery): RowsPage {
    return this.#atOnce(() => this.#rows.rows(query));
  }

  knownPayouts(asked: readonly AskedPayout[]): KnownPayout[] {
    return this.#atOnce(() => this.#revenue.known(asked));
  }

  totals(): FoldTotals {
    const row = this.#progress.get();
    return {
      records: row?.records ?? 0,
      sealedSession: row?.sealed_session ?? 0,
      malformed: row?.malformed ?? 0,
      unknownSession: row?.unknown_session ?? 0,
      repeatedSession: row?.repeated_session ?? 0,
      unshownClicks: row?.unshown_clicks ?? 0,
      duplicateClicks: row?.duplicate_clicks ?? 0,
      lateClicks: row?.late_clicks ?? 0,
      repeatedConfirmations: row?.repeated_confirmations ?? 0,
      unsoundConfirmations: row?.unsound_confirmations ?? 0,
    };
  }

  close(): void {
    this.#database.close();
  }
}

/** From when on sessions are too old to be kept. */
export interface Age {
  /** As the clock has it (day number). */
  readonly today: number;
  /** How many days back they are kept. */
  readonly days: number;
  /** When that is looked at. */
  readonly wallMs: number;
}

interface ProgressRow extends LogCursor {
  readonly records: number;
  readonly sealed_session: number;
  readonly malformed: number;
  readonly unknown_session: number;
  readonly repeated_session: number;
  readonly unshown_clicks: number;
  readonly duplicate_clicks: number;
  readonly late_clicks: number;
  readonly repeated_confirmations: number;
  readonly unsound_confirmations: number;
}

type SessionRow = [
  experiment: number,
  position: number,
  device: number,
  views: number,
  clicks: number,
  shown: Uint8Array | null,
  lastEventMs: number,
];

/** What the fold asks of the past, from the file, with caches of fixed size before it: memory does not grow with history. */
class StoredPast implements FoldPast {
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
        'SELECT experiment, position, device, views, clicks, shown, last_event_ms FROM session WHERE sub = ?',
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
    const [experiment, position, device, views, clicks, shown, lastEventMs] = row;
    const clicked = clicks === 0 ? [] : this.#findClicks.all(position);
    return { key, position, experiment, device, views, shown: decodeOfferNumbers(shown), clicked, lastEventMs };
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

/** Writes what a batch changed: each row once. */
class BatchWriter {
  readonly #sessions: RowWriter;
  readonly #pieces: RowWriter;
  readonly #clicks: RowWriter;
  readonly #counters: StoredCounters;
  readonly #segments: LedgerSegments;
  readonly #payouts: RowWriter;
  readonly #confirmClick: Statement<[number, number, number]>;
  readonly #setProgress: Statement<SqlValue[]>;

  constructor(database: Database, counters: StoredCounters, segments: LedgerSegments) {
    this.#counters = counters;
    this.#segments = segments;
    this.#sessions = new RowWriter(
      database,
      'session',
      ['sub', 'experiment', 'position', 'device', 'views', 'clicks', 'shown', 'last_event_ms'],
      `ON CONFLICT DO UPDATE SET views = excluded.views, clicks = excluded.clicks, shown = excluded.shown,
        last_event_ms = excluded.last_event_ms`,
    );
    this.#pieces = new RowWriter(database, 'cohort_piece', [
      'experiment',
      'day',
      'last_position',
      'first_position',
      'subs',
    ]);
    this.#clicks = new RowWriter(database, 'click', ['session', 'offer', 'lender', 'clicked_ms', 'attributed_micros']);
    this.#payouts = new RowWriter(
      database,
      'payout',
      ['session', 'offer', 'txid', 'funded_micros', 'funded_ms', 'reversed_micros', 'reversed_ms'],
      'ON CONFLICT DO UPDATE SET reversed_micros = excluded.reversed_micros, reversed_ms = excluded.reversed_ms',
    );
    this.#confirmClick = database.prepare(
      'UPDATE click SET confirmed_micros = confirmed_micros + ? WHERE session = ? AND offer = ?',
    );
    this.#setProgress = database.prepare(`
      INSERT INTO progress VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET position = excluded.position, segment = excluded.segment, "offset" = excluded."offset",
        crc = excluded.crc, last_wall_ms = coalesce(excluded.last_wall_ms, last_wall_ms), records = records + excluded.records,
        sealed_session = sealed_session + excluded.sealed_session,
        malformed = malformed + excluded.malformed, unknown_session = unknown_session + excluded.unknown_session,
        repeated_session = repeated_session + excluded.repeated_session,
        unshown_clicks = unshown_clicks + excluded.unshown_clicks,
        duplicate_clicks = duplicate_clicks + excluded.duplicate_clicks, late_clicks = late_clicks + excluded.late_clicks,
        repeated_confirmations = repeated_confirmations + excluded.repeated_confirmations,
        unsound_confirmations = unsound_confirmations + excluded.unsound_confirmations`);
  }

  write(fold: LedgerFold, cursor: LogCursor): void {
    this.#sessions.write(sessionRows(fold));
    this.#pieces.write(pieceRows(fold));
    this.#clicks.write(clickRows(fold));
    this.#counters.add(fold);
    this.#segments.write(fold);
    this.#payouts.write(payoutRows(fold));
    for (const { micros, session, offer } of fold.revenue.clicks.values())
      this.#confirmClick.run(micros, session, offer);
    const { records, sealedSession, malformed, unknownSession, repeatedSession } = fold.totals;
    const { unshownClicks, duplicateClicks, lateClicks, repeatedConfirmations, unsoundConfirmations } = fold.totals;
    this.#setProgress.run(
      cursor.position,
      cursor.segment,
      cursor.offset,
      cursor.crc,
      fold.lastWallMs,
      records,
      sealedSession,
      malformed,
      unknownSession,
      repeatedSession,
      unshownClicks,
      duplicateClicks,
      lateClicks,
      repeatedConfirmations,
      unsoundConfirmations,
    );
  }
}

type Rows = Generator<readonly SqlValue[], void>;

/** In the order of their keys, which is that of the table: neighbours are written together. */
function* sessionRows({ sessions }: LedgerFold): Rows {
  for (const session of [...sessions.values()].sort((a, b) => (a.key < b.key ? -1 : 1))) {
    const { key, experiment, position, device, views, clicked, shown, lastEventMs } = session;
    const sub = Buffer.from(key, 'latin1');
    yield [sub, experiment, position, device, views, clicked.length, encodeOfferNumbers(shown), lastEventMs];
  }
}

function* pieceRows({ cohorts }: LedgerFold): Rows {
  for (const { experiment, day, created } of cohorts.values()) {
    for (let at = 0; at < created.length; at += bounds.cohortPieceSessionsMax) {
      const piece = created.slice(at, at + bounds.cohortPieceSessionsMax);
      const subs = Buffer.from(piece.map(({ key }) => key).join(''), 'latin1');
      yield [experiment, day, piece.at(-1)!.position, piece[0]!.position, subs];
    }
  }
}

function* clickRows({ clicks }: LedgerFold): Rows {
  for (const { session, offer, lender, clickedMs, attributedMicros } of clicks) {
    yield [session, offer, lender, clickedMs, attributedMicros];
  }
}

function* payoutRows({ revenue }: LedgerFold): Rows {
  for (const { session, offer, txid, funded, reversed } of revenue.payouts.values()) {
    const { amountMicros = null, occurredMs = null } = reversed ?? {};
    yield [session, offer, txid, funded.amountMicros, funded.occurredMs, amountMicros, occurredMs];
  }
}
