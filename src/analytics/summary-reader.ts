import type { Database, Statement } from 'better-sqlite3';
import { bounds } from '../bounds.ts';
import type { LenderFigures, SummaryFigures, SummaryQuery } from './analytics.ts';
import { centsSquared, lastMaturedDay } from './cohort-rules.ts';
import { FiguresTally, type TallyRow } from './figures-tally.ts';
import { LenderTally } from './lender-tally.ts';
import { isInWindow, type StoredSessions } from './stored-sessions.ts';
import { addWidgetCounts, noWidgetEvents } from './widget-counts.ts';
import { WidgetReader } from './widget-reader.ts';

/** Answers the summary (contract 2.5, D12) from the store: by tag from the day counters, by ids from the sessions. */
export class SummaryReader {
  readonly #sessions: StoredSessions;
  readonly #devices: Statement<[{ maturedDay: number; experiment: number; fromDay: number; toDay: number }], TallyRow>;
  readonly #lenders: Statement<[number, number, number, number], LenderFigures>;
  readonly #widgets: WidgetReader;
  readonly #lastWallMs: Statement<[], number | null>;

  constructor(database: Database, sessions: StoredSessions) {
    this.#sessions = sessions;
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
    this.#widgets = new WidgetReader(database);
    this.#lastWallMs = database.prepare<[], number | null>('SELECT last_wall_ms FROM progress').pluck();
  }

  summary(query: SummaryQuery): SummaryFigures {
    const tally = new FiguresTally();
    const widgetEvents = [...noWidgetEvents];
    let topLenders: LenderFigures[] = [];
    let subsOutsideDates = 0;
    if (query.subs !== null) {
      ({ topLenders, subsOutsideDates } = this.#bySubs(query, query.subs, tally, widgetEvents));
    } else if (query.referrerTag !== null) {
      topLenders = this.#byTag(query, query.referrerTag, tally, widgetEvents);
    }
    const { keptFromDay } = this.#sessions;
    const asOfMs = this.#lastWallMs.get() ?? null;
    return { ...tally.figures(), topLenders, widgetEvents, subsOutsideDates, keptFromDay, asOfMs };
  }

  #byTag(query: SummaryQuery, referrerTag: string, tally: FiguresTally, widgetEvents: number[]): LenderFigures[] {
    const { fromDay, toDay } = query;
    const experiment = this.#sessions.experiment(query, referrerTag);
    if (experiment === undefined) return [];
    const maturedDay = lastMaturedDay(query.today);
    for (const row of this.#devices.all({ maturedDay, experiment, fromDay, toDay })) tally.add(row);
    for (const counts of this.#widgets.days(experiment, query).values()) addWidgetCounts(widgetEvents, counts);
    return this.#lenders.all(experiment, fromDay, toDay, bounds.topLendersMax);
  }

  #bySubs(
    query: SummaryQuery,
    subs: readonly Uint8Array[],
    tally: FiguresTally,
    widgetEvents: number[],
  ): { topLenders: LenderFigures[]; subsOutsideDates: number } {
    const lenders = new LenderTally();
    let subsOutsideDates = 0;
    for (const session of this.#sessions.listed(query, subs)) {
      const { day, device, views, clicks } = session;
      if (!isInWindow(day, query)) {
        subsOutsideDates++;
        continue;
      }
      addWidgetCounts(widgetEvents, session.widgetEvents);
      const { attributedMicros, confirmedMicros } = this.#sessions.revenue(session, lenders);
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
    const topLenders = lenders.figures(this.#sessions.lenderName).slice(0, bounds.topLendersMax);
    return { topLenders, subsOutsideDates };
  }
}
