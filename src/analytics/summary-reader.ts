import type { Database, Statement } from 'better-sqlite3';
import { bounds } from '../bounds.ts';
import type { LenderFigures, SummaryFigures, SummaryQuery } from './analytics.ts';
import { centsSquared, lastMaturedDay } from './cohort-rules.ts';
import { type DeviceFigures, FiguresTally, type MaturedSums } from './figures-tally.ts';
import { LenderTally } from './lender-tally.ts';
import { isInWindow, type StoredSessions } from './stored-sessions.ts';
import { addWidgetCounts, noWidgetEvents } from './widget-counts.ts';
import { WidgetReader } from './widget-reader.ts';

/** Answers the summary (docs/contract.md#summary) from the store: by tag from the day counters, by ids from the sessions. */
export class SummaryReader {
  readonly #sessions: StoredSessions;
  readonly #devices: Statement<[number, number, number], DeviceFigures>;
  readonly #matured: Statement<[number, number, number], MaturedSums>;
  readonly #lenders: Statement<[number, number, number, number], LenderFigures>;
  readonly #widgets: WidgetReader;
  readonly #lastWallMs: Statement<[], number | null>;

  constructor(database: Database, sessions: StoredSessions) {
    this.#sessions = sessions;
    this.#devices = database.prepare(`
      SELECT device, sum(sessions) AS sessions, sum(views) AS views, sum(clicks) AS clicks,
        sum(attributed_micros) AS attributedMicros, sum(confirmed_micros) AS confirmedMicros
      FROM day_counter WHERE experiment = ? AND day BETWEEN ? AND ? GROUP BY device`);
    this.#matured = database.prepare(`
      SELECT sum(sessions) AS sessions, sum(confirmed_micros) AS confirmedMicros,
        sum(confirmed_cents_squared) AS centsSquared
      FROM day_counter WHERE experiment = ? AND day BETWEEN ? AND ?`);
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
    for (const row of this.#devices.all(experiment, fromDay, toDay)) tally.add(row);
    const matured = maturedWindow(query);
    tally.addMatured(this.#matured.get(experiment, matured.fromDay, matured.toDay)!);
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
    const maturedDays = maturedWindow(query);
    let subsOutsideDates = 0;
    for (const session of this.#sessions.listed(query, subs)) {
      const { day, device, views, clicks, widgetEvents: told } = session;
      const inWindow = isInWindow(day, query);
      const matured = isInWindow(day, maturedDays);
      if (!inWindow) subsOutsideDates++;
      if (!inWindow && !matured) continue;
      const { attributedMicros, confirmedMicros } = this.#sessions.revenue(session, inWindow ? lenders : undefined);
      if (matured) tally.addMatured({ sessions: 1, confirmedMicros, centsSquared: centsSquared(confirmedMicros) });
      if (!inWindow) continue;
      addWidgetCounts(widgetEvents, told);
      tally.add({ device, sessions: 1, views, clicks, attributedMicros, confirmedMicros });
    }
    const topLenders = lenders.figures(this.#sessions.lenderName).slice(0, bounds.topLendersMax);
    return { topLenders, subsOutsideDates };
  }
}

/** Cohort days of the matured figures; empty where the first is after the last. */
function maturedWindow({ fromDay, toDay, today, maturedFromDay = fromDay }: SummaryQuery) {
  return { fromDay: maturedFromDay, toDay: Math.min(toDay, lastMaturedDay(today)) };
}
