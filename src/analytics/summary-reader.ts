import type { Database, Statement } from 'better-sqlite3';
import { bounds } from '../bounds.ts';
import type { CohortMetrics, LenderMetrics, SummaryQuery, SummaryResult } from './analytics.ts';
import { addWidgetCounts, centsSquared, lastMaturedCohortDay, zeroWidgetCounts } from './counting-rules.ts';
import { WidgetCountReader } from './daily-reader.ts';
import { isInWindow, LenderAccumulator, type SessionReader } from './session-reader.ts';

interface DeviceMetrics extends CohortMetrics {
  readonly device: number;
}

/** Sums over matured sessions. A sum is null if there were no rows. */
interface MaturedSums {
  readonly sessions: number | null;
  readonly confirmedMicros: number | null;
  readonly centsSquared: number | null;
}

/** Sums the figures of a summary: the total, the figures by device class, and those of matured sessions. */
class SummaryAccumulator {
  readonly #devices = new Map<number, { -readonly [Key in keyof DeviceMetrics]: number }>();
  readonly #matured = { sessions: 0, confirmedMicros: 0, centsSquared: 0 };

  addDevice(row: DeviceMetrics): void {
    let sum = this.#devices.get(row.device);
    if (sum === undefined) {
      sum = { ...zeroMetrics, device: row.device };
      this.#devices.set(row.device, sum);
    }
    addMetrics(sum, row);
  }

  addMatured({ sessions, confirmedMicros, centsSquared }: MaturedSums): void {
    this.#matured.sessions += sessions ?? 0;
    this.#matured.confirmedMicros += confirmedMicros ?? 0;
    this.#matured.centsSquared += centsSquared ?? 0;
  }

  result(): CohortMetrics & Pick<SummaryResult, 'byDevice' | 'matured'> {
    const total = { ...zeroMetrics };
    const byDevice = [...this.#devices.values()].sort((a, b) => a.device - b.device);
    for (const figures of byDevice) addMetrics(total, figures);
    const { sessions, confirmedMicros, centsSquared } = this.#matured;
    return { ...total, byDevice, matured: { sessions, confirmedMicros, confirmedUsdSquared: centsSquared / 10_000 } };
  }
}

const zeroMetrics: CohortMetrics = { sessions: 0, views: 0, clicks: 0, attributedMicros: 0, confirmedMicros: 0 };

function addMetrics(sum: { -readonly [Key in keyof CohortMetrics]: number }, figures: CohortMetrics): void {
  sum.sessions += figures.sessions;
  sum.views += figures.views;
  sum.clicks += figures.clicks;
  sum.attributedMicros += figures.attributedMicros;
  sum.confirmedMicros += figures.confirmedMicros;
}

/** Reads the summary (docs/contract.md#summary). A tag is read from the day counters, listed sub_ids from their sessions. */
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
    const accumulator = new SummaryAccumulator();
    const widgetEvents = [...zeroWidgetCounts];
    let topLenders: LenderMetrics[] = [];
    let subsOutsideDates = 0;
    if (query.subs !== null) {
      ({ topLenders, subsOutsideDates } = this.#sumBySubs(query, query.subs, accumulator, widgetEvents));
    } else if (query.referrerTag !== null) {
      topLenders = this.#sumByTag(query, query.referrerTag, accumulator, widgetEvents);
    }
    const { retainedFromDay } = this.#sessions;
    const asOfMs = this.#selectLastWallMs.get() ?? null;
    return { ...accumulator.result(), topLenders, widgetEvents, subsOutsideDates, retainedFromDay, asOfMs };
  }

  #sumByTag(
    query: SummaryQuery,
    referrerTag: string,
    accumulator: SummaryAccumulator,
    widgetEvents: number[],
  ): LenderMetrics[] {
    const { fromDay, toDay } = query;
    const experiment = this.#sessions.findExperiment(query, referrerTag);
    if (experiment === undefined) return [];
    for (const row of this.#selectDevices.all(experiment, fromDay, toDay)) accumulator.addDevice(row);
    const matured = maturedWindow(query);
    accumulator.addMatured(this.#selectMatured.get(experiment, matured.fromDay, matured.toDay)!);
    for (const counts of this.#widgetCounts.countsByDay(experiment, query).values())
      addWidgetCounts(widgetEvents, counts);
    return this.#selectTopLenders.all(experiment, fromDay, toDay, bounds.topLendersMax);
  }

  #sumBySubs(
    query: SummaryQuery,
    subs: readonly Uint8Array[],
    accumulator: SummaryAccumulator,
    widgetEvents: number[],
  ): { topLenders: LenderMetrics[]; subsOutsideDates: number } {
    const lenders = new LenderAccumulator();
    const maturedDays = maturedWindow(query);
    let subsOutsideDates = 0;
    for (const session of this.#sessions.findListed(query, subs)) {
      const { day, device, views, clicks, widgetEvents: sessionEvents } = session;
      const inWindow = isInWindow(day, query);
      const matured = isInWindow(day, maturedDays);
      if (!inWindow) subsOutsideDates++;
      if (!inWindow && !matured) continue;
      const { attributedMicros, confirmedMicros } = this.#sessions.sumRevenue(session, inWindow ? lenders : undefined);
      if (matured)
        accumulator.addMatured({ sessions: 1, confirmedMicros, centsSquared: centsSquared(confirmedMicros) });
      if (!inWindow) continue;
      addWidgetCounts(widgetEvents, sessionEvents);
      accumulator.addDevice({ device, sessions: 1, views, clicks, attributedMicros, confirmedMicros });
    }
    const topLenders = lenders.result(this.#sessions.lenderNameOf).slice(0, bounds.topLendersMax);
    return { topLenders, subsOutsideDates };
  }
}

/** Returns the cohort days of the matured figures. The window is empty if `fromDay` is after `toDay`. */
function maturedWindow({ fromDay, toDay, today, maturedFromDay = fromDay }: SummaryQuery) {
  return { fromDay: maturedFromDay, toDay: Math.min(toDay, lastMaturedCohortDay(today)) };
}
