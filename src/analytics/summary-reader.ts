import type { Database, Statement } from 'better-sqlite3';
import { bounds } from '../bounds.ts';
import type { LenderMetrics, SummaryResult, SummaryQuery } from './analytics.ts';
import { centsSquared, lastMaturedCohortDay } from './cohort-rules.ts';
import { type DeviceMetrics, SummaryAccumulator, type MaturedSums } from './figures-tally.ts';
import { LenderAccumulator } from './lender-tally.ts';
import { isInWindow, type SessionReader } from './stored-sessions.ts';
import { addWidgetCounts, zeroWidgetCounts } from './widget-counts.ts';
import { WidgetCountReader } from './widget-reader.ts';

/** Answers the summary (docs/contract.md#summary) from the store: by tag from the day counters, by ids from the sessions. */
export class SummaryReader {
  readonly #sessions: SessionReader;
  readonly #selectDevices: Statement<[number, number, number], DeviceMetrics>;
  readonly #selectMatured: Statement<[number, number, number], MaturedSums>;
  readonly #selectTopLenders: Statement<[number, number, number, number], LenderMetrics>;
  readonly #widgetCounts: WidgetCountReader;
  readonly #selectLastWallMs: Statement<[], number | null>;

  constructor(database: Database, sessions: SessionReader) {
    this.#sessions = sessions;
    this.#selectDevices = database.prepare(`
      SELECT device, sum(sessions) AS sessions, sum(views) AS views, sum(clicks) AS clicks,
        sum(attributed_micros) AS attributedMicros, sum(confirmed_micros) AS confirmedMicros
      FROM day_counter WHERE experiment = ? AND day BETWEEN ? AND ? GROUP BY device`);
    this.#selectMatured = database.prepare(`
      SELECT sum(sessions) AS sessions, sum(confirmed_micros) AS confirmedMicros,
        sum(confirmed_cents_squared) AS centsSquared
      FROM day_counter WHERE experiment = ? AND day BETWEEN ? AND ?`);
    this.#selectTopLenders = database.prepare(`
      SELECT name AS lender, sum(clicks) AS clicks, sum(confirmed_micros) AS confirmedMicros
      FROM lender_counter JOIN lender ON number = lender
      WHERE experiment = ? AND day BETWEEN ? AND ?
      GROUP BY number HAVING sum(clicks) > 0 ORDER BY sum(clicks) DESC, name LIMIT ?`);
    this.#widgetCounts = new WidgetCountReader(database);
    this.#selectLastWallMs = database.prepare<[], number | null>('SELECT last_wall_ms FROM progress').pluck();
  }

  getSummary(query: SummaryQuery): SummaryResult {
    const tally = new SummaryAccumulator();
    const widgetEvents = [...zeroWidgetCounts];
    let topLenders: LenderMetrics[] = [];
    let subsOutsideDates = 0;
    if (query.subs !== null) {
      ({ topLenders, subsOutsideDates } = this.#sumBySubs(query, query.subs, tally, widgetEvents));
    } else if (query.referrerTag !== null) {
      topLenders = this.#sumByTag(query, query.referrerTag, tally, widgetEvents);
    }
    const { retainedFromDay } = this.#sessions;
    const asOfMs = this.#selectLastWallMs.get() ?? null;
    return { ...tally.result(), topLenders, widgetEvents, subsOutsideDates, retainedFromDay, asOfMs };
  }

  #sumByTag(query: SummaryQuery, referrerTag: string, tally: SummaryAccumulator, widgetEvents: number[]): LenderMetrics[] {
    const { fromDay, toDay } = query;
    const experiment = this.#sessions.findExperiment(query, referrerTag);
    if (experiment === undefined) return [];
    for (const row of this.#selectDevices.all(experiment, fromDay, toDay)) tally.addDevice(row);
    const matured = maturedWindow(query);
    tally.addMatured(this.#selectMatured.get(experiment, matured.fromDay, matured.toDay)!);
    for (const counts of this.#widgetCounts.countsByDay(experiment, query).values()) addWidgetCounts(widgetEvents, counts);
    return this.#selectTopLenders.all(experiment, fromDay, toDay, bounds.topLendersMax);
  }

  #sumBySubs(
    query: SummaryQuery,
    subs: readonly Uint8Array[],
    tally: SummaryAccumulator,
    widgetEvents: number[],
  ): { topLenders: LenderMetrics[]; subsOutsideDates: number } {
    const lenders = new LenderAccumulator();
    const maturedDays = maturedWindow(query);
    let subsOutsideDates = 0;
    for (const session of this.#sessions.findListed(query, subs)) {
      const { day, device, views, clicks, widgetEvents: told } = session;
      const inWindow = isInWindow(day, query);
      const matured = isInWindow(day, maturedDays);
      if (!inWindow) subsOutsideDates++;
      if (!inWindow && !matured) continue;
      const { attributedMicros, confirmedMicros } = this.#sessions.sumRevenue(session, inWindow ? lenders : undefined);
      if (matured) tally.addMatured({ sessions: 1, confirmedMicros, centsSquared: centsSquared(confirmedMicros) });
      if (!inWindow) continue;
      addWidgetCounts(widgetEvents, told);
      tally.addDevice({ device, sessions: 1, views, clicks, attributedMicros, confirmedMicros });
    }
    const topLenders = lenders.result(this.#sessions.lenderNameOf).slice(0, bounds.topLendersMax);
    return { topLenders, subsOutsideDates };
  }
}

/** Cohort days of the matured figures; empty where the first is after the last. */
function maturedWindow({ fromDay, toDay, today, maturedFromDay = fromDay }: SummaryQuery) {
  return { fromDay: maturedFromDay, toDay: Math.min(toDay, lastMaturedCohortDay(today)) };
}
