import type { Database, Statement } from 'better-sqlite3';
import { bounds } from '../bounds.ts';
import { dayOf } from '../domain/calendar.ts';
import { decodeSubId } from '../sessions/sub-id.ts';
import type { SummaryFigures, SummaryQuery } from './analytics.ts';
import { centsSquared, lastMaturedDay } from './cohort-rules.ts';
import { FiguresTally, type TallyRow } from './figures-tally.ts';

type Lender = SummaryFigures['topLenders'][number];

type SessionRow = [experiment: number, position: number, device: number, views: number, clicks: number];
type ExperimentRow = [account: number, vertical: number, test: number, tag: string];
type ClickRow = [lender: number, attributedMicros: number, confirmedMicros: number];

/** Answers the summary (contract 2.5, D12) from the store: by tag from the day counters, by ids from the sessions. */
export class SummaryReader {
  readonly #experiment: Statement<[number, number, number, string], number>;
  readonly #devices: Statement<[{ maturedDay: number; experiment: number; fromDay: number; toDay: number }], TallyRow>;
  readonly #lenders: Statement<[number, number, number, number], Lender>;
  readonly #session: Statement<[Uint8Array], SessionRow>;
  readonly #experimentOf: Statement<[number], ExperimentRow>;
  readonly #clicks: Statement<[number], ClickRow>;
  readonly #lenderName: Statement<[number], string>;
  readonly #lastWallMs: Statement<[], number | null>;
  readonly #inTransaction: (read: () => SummaryFigures) => SummaryFigures;

  constructor(database: Database) {
    this.#experiment = database
      .prepare<[number, number, number, string], number>(
        'SELECT number FROM experiment WHERE account = ? AND vertical = ? AND test = ? AND tag = ?',
      )
      .pluck();
    this.#devices = database.prepare(`
      SELECT device, sum(sessions) AS sessions, sum(views) AS views, sum(clicks) AS clicks,
        sum(attributed_micros) AS attributedMicros, sum(confirmed_micros) AS confirmedMicros,
        sum(sessions) FILTER (WHERE day <= @maturedDay) AS maturedSessions,
        sum(confirmed_micros) FILTER (WHERE day <= @maturedDay) AS maturedMicros,
        sum(confirmed_cents_squared) FILTER (WHERE day <= @maturedDay) AS maturedCentsSquared
      FROM day_counter WHERE experiment = @experiment AND day BETWEEN @fromDay AND @toDay GROUP BY device`);
    this.#lenders = database.prepare(`
      SELECT name AS lender, sum(clicks) AS clicks, sum(confirmed_micros) AS confirmedMicros
      FROM lender_counter JOIN lender ON number = lender
      WHERE experiment = ? AND day BETWEEN ? AND ?
      GROUP BY number HAVING sum(clicks) > 0 ORDER BY sum(clicks) DESC, name LIMIT ?`);
    // One id costs two small searches in rows without names; joined, and as objects, it took four times as long.
    this.#session = database
      .prepare<[Uint8Array], SessionRow>(
        'SELECT experiment, position, device, views, clicks FROM session WHERE sub = ?',
      )
      .raw();
    this.#experimentOf = database
      .prepare<[number], ExperimentRow>('SELECT account, vertical, test, tag FROM experiment WHERE number = ?')
      .raw();
    this.#clicks = database
      .prepare<[number], ClickRow>('SELECT lender, attributed_micros, confirmed_micros FROM click WHERE session = ?')
      .raw();
    this.#lenderName = database.prepare<[number], string>('SELECT name FROM lender WHERE number = ?').pluck();
    this.#lastWallMs = database.prepare<[], number | null>('SELECT last_wall_ms FROM progress').pluck();
    this.#inTransaction = database.transaction((read) => read());
  }

  /** In one transaction: otherwise SQLite locks its file anew for every id. */
  summary(query: SummaryQuery): SummaryFigures {
    return this.#inTransaction(() => this.#figures(query));
  }

  #figures(query: SummaryQuery): SummaryFigures {
    const tally = new FiguresTally();
    let topLenders: Lender[] = [];
    let subsOutsideDates = 0;
    if (query.subs !== null) {
      ({ topLenders, subsOutsideDates } = this.#bySubs(query, query.subs, tally));
    } else if (query.referrerTag !== null) {
      topLenders = this.#byTag(query, query.referrerTag, tally);
    }
    return { ...tally.figures(), topLenders, subsOutsideDates, asOfMs: this.#lastWallMs.get() ?? null };
  }

  #byTag(query: SummaryQuery, referrerTag: string, tally: FiguresTally): Lender[] {
    const { account, vertical, mode, fromDay, toDay } = query;
    const experiment = this.#experiment.get(account, vertical, mode === 'test' ? 1 : 0, referrerTag);
    if (experiment === undefined) return [];
    const maturedDay = lastMaturedDay(query.today);
    for (const row of this.#devices.all({ maturedDay, experiment, fromDay, toDay })) tally.add(row);
    return this.#lenders.all(experiment, fromDay, toDay, bounds.topLendersMax);
  }

  #bySubs(
    query: SummaryQuery,
    subs: readonly Uint8Array[],
    tally: FiguresTally,
  ): { topLenders: Lender[]; subsOutsideDates: number } {
    const wanted = new Map<number, boolean>();
    const lenders = new Map<number, { -readonly [Key in keyof Lender]: Lender[Key] }>();
    let subsOutsideDates = 0;
    for (const sub of subs) {
      const session = this.#session.get(sub);
      if (session === undefined) continue;
      const [experiment, position, device, views, clicks] = session;
      let isWanted = wanted.get(experiment);
      if (isWanted === undefined) {
        isWanted = this.#isWanted(query, experiment);
        wanted.set(experiment, isWanted);
      }
      if (!isWanted) continue;
      const day = dayOf(decodeSubId(sub).createdMs);
      if (day < query.fromDay || day > query.toDay) {
        subsOutsideDates++;
        continue;
      }
      let attributedMicros = 0;
      let confirmedMicros = 0;
      for (const [lenderNumber, attributed, confirmed] of clicks === 0 ? [] : this.#clicks.all(position)) {
        attributedMicros += attributed;
        confirmedMicros += confirmed;
        let lender = lenders.get(lenderNumber);
        if (lender === undefined) {
          lender = { lender: this.#lenderName.get(lenderNumber)!, clicks: 0, confirmedMicros: 0 };
          lenders.set(lenderNumber, lender);
        }
        lender.clicks++;
        lender.confirmedMicros += confirmed;
      }
      const matured = day <= lastMaturedDay(query.today);
      tally.add({
        device,
        sessions: 1,
        views,
        clicks,
        attributedMicros,
        confirmedMicros,
        maturedSessions: matured ? 1 : 0,
        maturedMicros: matured ? confirmedMicros : 0,
        maturedCentsSquared: matured ? centsSquared(confirmedMicros) : 0,
      });
    }
    const topLenders = [...lenders.values()].sort(byClicksThenName).slice(0, bounds.topLendersMax);
    return { topLenders, subsOutsideDates };
  }

  /** Whether the sessions of an experiment are the asker's, and of the tag asked for. */
  #isWanted(query: SummaryQuery, experiment: number): boolean {
    const [account, vertical, test, tag] = this.#experimentOf.get(experiment)!;
    return (
      account === query.account &&
      vertical === query.vertical &&
      (test === 1) === (query.mode === 'test') &&
      (query.referrerTag === null || query.referrerTag === tag)
    );
  }
}

/** Names in the order of their UTF-8 bytes, as SQLite compares them, so that both ways of asking order alike. */
function byClicksThenName(a: Lender, b: Lender): number {
  return b.clicks - a.clicks || Buffer.compare(Buffer.from(a.lender), Buffer.from(b.lender));
}
