import type { Database, Statement } from 'better-sqlite3';
import { bounds } from '../bounds.ts';
import { widgetEventTypes } from '../ledger/ledger-record.ts';
import type {
  CohortMetrics,
  CohortQuery,
  DailyAnalyticsResult,
  LenderMetrics,
  SummaryQuery,
  SummaryResult,
  UnbookedClickCounts,
  WidgetCounts,
} from './analytics.ts';
import { prepareArrayQuery, prepareSingleValueQuery } from './analytics-database.ts';
import {
  addCounts,
  emptyUnbookedClickCounts,
  emptyWidgetCounts,
  lastMaturedCohortDay,
  squareRevenueCents,
} from './counting-rules.ts';
import { unbookedClickColumns } from './projection-state.ts';
import { isInDayRange, LenderRevenueTotals, type SessionReader } from './session-reader.ts';

type DayWindow = Pick<CohortQuery, 'fromDay' | 'toDay'>;
/** Metrics, with the counts of clicks without revenue and of widget events. */
type CountedMetrics = CohortMetrics & {
  readonly unbookedClicks: UnbookedClickCounts;
  readonly widgetEvents: WidgetCounts;
};
type MetricsSum = { -readonly [Key in keyof CohortMetrics]: number } & {
  readonly unbookedClicks: number[];
  readonly widgetEvents: number[];
};

/** Sums of metrics by day number, or by the number of the device class. */
class MetricsByGroup extends Map<number, MetricsSum> {
  add(group: number, metrics: CountedMetrics): void {
    let sum = this.get(group);
    if (sum === undefined) {
      sum = createZeroSum();
      this.set(group, sum);
    }
    addMetrics(sum, metrics);
  }
}

type MetricsRow = [
  group: number,
  sessions: number,
  views: number,
  clicks: number,
  attributedMicros: number,
  confirmedMicros: number,
  ...unbookedClicks: number[],
];

/** Reads the figures of a referrer tag from the daily counters. */
class CounterReader {
  readonly #selectMetrics: Statement<[number, number, number], MetricsRow>;
  readonly #selectWidgetCounts: Statement<[number, number, number], [group: number, ...counts: number[]]>;

  constructor(database: Database, group: 'day' | 'device') {
    const inWindow = `WHERE experiment = ? AND day BETWEEN ? AND ? GROUP BY ${group}`;
    const unbooked = unbookedClickColumns.map((column) => `sum(${column})`).join(', ');
    this.#selectMetrics = prepareArrayQuery(
      database,
      `SELECT ${group}, sum(sessions), sum(views), sum(clicks), sum(attributed_micros), sum(confirmed_micros), ${unbooked}
        FROM day_counter ${inWindow}`,
    );
    const counts = widgetEventTypes.map((type) => `sum(${type})`).join(', ');
    this.#selectWidgetCounts = prepareArrayQuery(
      database,
      `SELECT ${group}, ${counts} FROM widget_counter ${inWindow}`,
    );
  }

  read(experiment: number, { fromDay, toDay }: DayWindow): MetricsByGroup {
    const groups = new MetricsByGroup();
    for (const row of this.#selectMetrics.all(experiment, fromDay, toDay)) {
      const [group, sessions, views, clicks, attributedMicros, confirmedMicros, ...unbookedClicks] = row;
      const metrics = { sessions, views, clicks, attributedMicros, confirmedMicros };
      groups.add(group, { ...metrics, unbookedClicks, widgetEvents: emptyWidgetCounts });
    }
    for (const [group, ...counts] of this.#selectWidgetCounts.all(experiment, fromDay, toDay)) {
      addCounts(groups.get(group)!.widgetEvents, counts);
    }
    return groups;
  }
}

interface MaturedSums {
  readonly sessions: number;
  readonly sessionsWithRevenue: number | null;
  readonly confirmedMicros: number;
  readonly centsSquared: number;
}

/** Parts of a summary, computed from the daily counters for a tag, and from the sessions for listed sub_ids. */
interface SummaryParts {
  readonly devices: MetricsByGroup;
  readonly matured: MaturedSums;
  readonly topLenders: readonly LenderMetrics[];
  readonly subsOutsideDates: number;
}

/**
 * Reads summaries (docs/contract.md#summary) and daily figures (docs/contract.md#daily-figures). Reads the daily counters for a query by
 * tag, and the session rows for a query by sub_ids.
 */
export class CohortReader {
  readonly #sessions: SessionReader;
  readonly #days: CounterReader;
  readonly #devices: CounterReader;
  readonly #selectMatured: Statement<[number, number, number], MaturedSums>;
  readonly #selectTopLenders: Statement<[number, number, number, number], LenderMetrics>;
  readonly #selectLastWallMs: Statement<[], number | null>;

  constructor(database: Database, sessions: SessionReader) {
    this.#sessions = sessions;
    this.#days = new CounterReader(database, 'day');
    this.#devices = new CounterReader(database, 'device');
    this.#selectMatured = database.prepare(`
      SELECT coalesce(sum(sessions), 0) AS sessions, coalesce(sum(confirmed_micros), 0) AS confirmedMicros,
        coalesce(sum(confirmed_cents_squared), 0) AS centsSquared,
        CASE WHEN count(revenue_sessions) = count(*) THEN coalesce(sum(revenue_sessions), 0) END AS sessionsWithRevenue
      FROM day_counter WHERE experiment = ? AND day BETWEEN ? AND ?`);
    this.#selectTopLenders = database.prepare(`
      SELECT name AS lender, sum(clicks) AS clicks, sum(confirmed_micros) AS confirmedMicros
      FROM lender_counter JOIN lender ON number = lender
      WHERE experiment = ? AND day BETWEEN ? AND ?
      GROUP BY number HAVING sum(clicks) > 0 ORDER BY sum(clicks) DESC, name LIMIT ?`);
    this.#selectLastWallMs = prepareSingleValueQuery(database, 'SELECT last_wall_ms FROM progress');
  }

  getSummary(query: SummaryQuery): SummaryResult {
    const { fromDay, toDay, today, maturedFromDay = fromDay } = query;
    // If `toDay` is before `fromDay`, the window is empty.
    const maturedWindow = { fromDay: maturedFromDay, toDay: Math.min(toDay, lastMaturedCohortDay(today)) };
    const { devices, matured, topLenders, subsOutsideDates } =
      query.subs === null
        ? this.#summarizeReferrerTag(query, maturedWindow)
        : this.#summarizeSubIds(query, query.subs, maturedWindow);
    const total = createZeroSum();
    const byDevice = [...devices]
      .sort(([a], [b]) => a - b)
      .map(([device, sum]) => {
        addMetrics(total, sum);
        const { unbookedClicks: _, widgetEvents: __, ...metrics } = sum;
        return { device, ...metrics };
      });
    return {
      ...total,
      byDevice,
      matured: {
        sessions: matured.sessions,
        sessionsWithRevenue: matured.sessionsWithRevenue,
        confirmedMicros: matured.confirmedMicros,
        confirmedUsdSquared: matured.centsSquared / 10_000,
      },
      topLenders,
      subsOutsideDates,
      ...this.#sessions.getCoverage(query),
      asOfMs: this.#selectLastWallMs.get() ?? null,
    };
  }

  listDailyAnalytics(query: SummaryQuery): DailyAnalyticsResult {
    const { fromDay, toDay, today, subs } = query;
    let groups = new MetricsByGroup();
    if (subs === null) {
      const experiment = this.#sessions.findExperimentNumber(query);
      if (experiment !== undefined) groups = this.#days.read(experiment, query);
    } else {
      for (const session of this.#sessions.findListedSessions(query, subs)) {
        if (!isInDayRange(session.day, query)) continue;
        groups.add(session.day, { ...session, sessions: 1, ...this.#sessions.sumSessionRevenue(session) });
      }
    }
    const maturedDay = lastMaturedCohortDay(today);
    const days = Array.from({ length: Math.max(0, toDay - fromDay + 1) }, (_, index) => {
      const day = fromDay + index;
      return { day, matured: day <= maturedDay, ...(groups.get(day) ?? createZeroSum()) };
    });
    return { days, ...this.#sessions.getCoverage(query) };
  }

  #summarizeReferrerTag(query: SummaryQuery, maturedWindow: DayWindow): SummaryParts {
    const { fromDay, toDay } = query;
    const experiment = this.#sessions.findExperimentNumber(query);
    if (experiment === undefined) {
      return { devices: new MetricsByGroup(), matured: zeroMatured, topLenders: [], subsOutsideDates: 0 };
    }
    return {
      devices: this.#devices.read(experiment, query),
      matured: this.#selectMatured.get(experiment, maturedWindow.fromDay, maturedWindow.toDay)!,
      topLenders: this.#selectTopLenders.all(experiment, fromDay, toDay, bounds.topLendersMax),
      subsOutsideDates: 0,
    };
  }

  #summarizeSubIds(query: SummaryQuery, subs: readonly Uint8Array[], maturedWindow: DayWindow): SummaryParts {
    const devices = new MetricsByGroup();
    const lenders = new LenderRevenueTotals();
    const matured = { ...zeroMatured };
    let subsOutsideDates = 0;
    for (const session of this.#sessions.findListedSessions(query, subs)) {
      const inWindow = isInDayRange(session.day, query);
      const isMatured = isInDayRange(session.day, maturedWindow);
      if (!inWindow) subsOutsideDates++;
      if (!inWindow && !isMatured) continue;
      const revenue = this.#sessions.sumSessionRevenue(session, inWindow ? lenders : undefined);
      if (isMatured) {
        matured.sessions++;
        if (revenue.confirmedMicros > 0) matured.sessionsWithRevenue++;
        matured.confirmedMicros += revenue.confirmedMicros;
        matured.centsSquared += squareRevenueCents(revenue.confirmedMicros);
      }
      if (inWindow) devices.add(session.device, { ...session, sessions: 1, ...revenue });
    }
    const topLenders = lenders.toSortedLenderMetrics(this.#sessions.lenderNameOf).slice(0, bounds.topLendersMax);
    return { devices, matured, topLenders, subsOutsideDates };
  }
}

const zeroMatured = { sessions: 0, sessionsWithRevenue: 0, confirmedMicros: 0, centsSquared: 0 };

function createZeroSum(): MetricsSum {
  const counts = { unbookedClicks: [...emptyUnbookedClickCounts], widgetEvents: [...emptyWidgetCounts] };
  return { sessions: 0, views: 0, clicks: 0, attributedMicros: 0, confirmedMicros: 0, ...counts };
}

function addMetrics(sum: MetricsSum, metrics: CountedMetrics): void {
  sum.sessions += metrics.sessions;
  sum.views += metrics.views;
  sum.clicks += metrics.clicks;
  sum.attributedMicros += metrics.attributedMicros;
  sum.confirmedMicros += metrics.confirmedMicros;
  addCounts(sum.unbookedClicks, metrics.unbookedClicks);
  addCounts(sum.widgetEvents, metrics.widgetEvents);
}
