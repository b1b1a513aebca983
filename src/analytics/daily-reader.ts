import type { Database, Statement } from 'better-sqlite3';
import { widgetEventTypes } from '../ledger/ledger-record.ts';
import type { CohortMetrics, CohortQuery, DailyResult, DayMetrics, SummaryQuery, WidgetCounts } from './analytics.ts';
import { addWidgetCounts, lastMaturedCohortDay, zeroWidgetCounts } from './counting-rules.ts';
import { isInWindow, type SessionReader } from './session-reader.ts';

type WidgetDayRow = [day: number, ...counts: number[]];

/** Reads the daily widget counts (docs/contract.md#widget-events) of an experiment from the store. */
export class WidgetCountReader {
  readonly #selectDays: Statement<[number, number, number], WidgetDayRow>;

  constructor(database: Database) {
    this.#selectDays = database
      .prepare<[number, number, number], WidgetDayRow>(
        `SELECT day, ${widgetEventTypes.map((type) => `sum(${type})`).join(', ')}
        FROM widget_counter WHERE experiment = ? AND day BETWEEN ? AND ? GROUP BY day`,
      )
      .raw();
  }

  /** Returns the widget counts by cohort day. Days without widget events are not in the map. */
  countsByDay(experiment: number, { fromDay, toDay }: CohortQuery): Map<number, WidgetCounts> {
    return new Map(this.#selectDays.all(experiment, fromDay, toDay).map(([day, ...counts]) => [day, counts]));
  }
}

type DayRow = [
  day: number,
  sessions: number,
  views: number,
  clicks: number,
  attributedMicros: number,
  confirmedMicros: number,
];
type DaySum = { -readonly [Key in keyof CohortMetrics]: number } & { readonly widgetEvents: number[] };

/** Reads daily figures (docs/contract.md#daily-figures). A tag is read from the day counters, listed sub_ids from their sessions. */
export class DailyReader {
  readonly #sessions: SessionReader;
  readonly #selectDays: Statement<[number, number, number], DayRow>;
  readonly #widgetCounts: WidgetCountReader;

  constructor(database: Database, sessions: SessionReader) {
    this.#sessions = sessions;
    this.#selectDays = database
      .prepare<[number, number, number], DayRow>(
        `SELECT day, sum(sessions), sum(views), sum(clicks), sum(attributed_micros), sum(confirmed_micros)
        FROM day_counter WHERE experiment = ? AND day BETWEEN ? AND ? GROUP BY day`,
      )
      .raw();
    this.#widgetCounts = new WidgetCountReader(database);
  }

  listDays(query: SummaryQuery): DailyResult {
    const sums = new Map<number, DaySum>();
    if (query.subs !== null) this.#sumBySubs(query, query.subs, sums);
    else if (query.referrerTag !== null) this.#sumByTag(query, query.referrerTag, sums);
    const maturedDay = lastMaturedCohortDay(query.today);
    const days: DayMetrics[] = [];
    for (let day = query.fromDay; day <= query.toDay; day++) {
      days.push({ day, matured: day <= maturedDay, ...(sums.get(day) ?? createZeroSum()) });
    }
    return { days, retainedFromDay: this.#sessions.retainedFromDay };
  }

  #sumByTag(query: SummaryQuery, referrerTag: string, sums: Map<number, DaySum>): void {
    const experiment = this.#sessions.findExperiment(query, referrerTag);
    if (experiment === undefined) return;
    const rows = this.#selectDays.all(experiment, query.fromDay, query.toDay);
    for (const [day, sessions, views, clicks, attributedMicros, confirmedMicros] of rows) {
      sums.set(day, { ...createZeroSum(), sessions, views, clicks, attributedMicros, confirmedMicros });
    }
    for (const [day, counts] of this.#widgetCounts.countsByDay(experiment, query)) {
      addWidgetCounts(sums.get(day)!.widgetEvents, counts);
    }
  }

  #sumBySubs(query: SummaryQuery, subs: readonly Uint8Array[], sums: Map<number, DaySum>): void {
    for (const session of this.#sessions.findListed(query, subs)) {
      if (!isInWindow(session.day, query)) continue;
      let sum = sums.get(session.day);
      if (sum === undefined) {
        sum = createZeroSum();
        sums.set(session.day, sum);
      }
      sum.sessions++;
      sum.views += session.views;
      sum.clicks += session.clicks;
      addWidgetCounts(sum.widgetEvents, session.widgetEvents);
      const { attributedMicros, confirmedMicros } = this.#sessions.sumRevenue(session);
      sum.attributedMicros += attributedMicros;
      sum.confirmedMicros += confirmedMicros;
    }
  }
}

function createZeroSum(): DaySum {
  const widgetEvents = [...zeroWidgetCounts];
  return { sessions: 0, views: 0, clicks: 0, attributedMicros: 0, confirmedMicros: 0, widgetEvents };
}
