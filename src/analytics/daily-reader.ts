import type { Database, Statement } from 'better-sqlite3';
import type { DailyFigures, DayFigures, Figures, SummaryQuery } from './analytics.ts';
import { lastMaturedDay } from './cohort-rules.ts';
import { isInWindow, type StoredSessions } from './stored-sessions.ts';
import { addWidgetCounts, noWidgetEvents } from './widget-counts.ts';
import { WidgetReader } from './widget-reader.ts';

type DayRow = [
  day: number,
  sessions: number,
  views: number,
  clicks: number,
  attributedMicros: number,
  confirmedMicros: number,
];
type Sum = { -readonly [Key in keyof Figures]: number } & { readonly widgetEvents: number[] };

/** Reads the figures of each day (docs/contract.md#daily-figures): by tag from the day counters, by ids from the sessions. */
export class DailyReader {
  readonly #sessions: StoredSessions;
  readonly #days: Statement<[number, number, number], DayRow>;
  readonly #widgets: WidgetReader;

  constructor(database: Database, sessions: StoredSessions) {
    this.#sessions = sessions;
    this.#days = database
      .prepare<[number, number, number], DayRow>(
        `SELECT day, sum(sessions), sum(views), sum(clicks), sum(attributed_micros), sum(confirmed_micros)
        FROM day_counter WHERE experiment = ? AND day BETWEEN ? AND ? GROUP BY day`,
      )
      .raw();
    this.#widgets = new WidgetReader(database);
  }

  daily(query: SummaryQuery): DailyFigures {
    const sums = new Map<number, Sum>();
    if (query.subs !== null) this.#bySubs(query, query.subs, sums);
    else if (query.referrerTag !== null) this.#byTag(query, query.referrerTag, sums);
    const maturedDay = lastMaturedDay(query.today);
    const figures: DayFigures[] = [];
    for (let day = query.fromDay; day <= query.toDay; day++) {
      figures.push({ day, matured: day <= maturedDay, ...(sums.get(day) ?? nothing()) });
    }
    return { days: figures, keptFromDay: this.#sessions.keptFromDay };
  }

  #byTag(query: SummaryQuery, referrerTag: string, sums: Map<number, Sum>): void {
    const experiment = this.#sessions.experiment(query, referrerTag);
    if (experiment === undefined) return;
    const rows = this.#days.all(experiment, query.fromDay, query.toDay);
    for (const [day, sessions, views, clicks, attributedMicros, confirmedMicros] of rows) {
      sums.set(day, { ...nothing(), sessions, views, clicks, attributedMicros, confirmedMicros });
    }
    for (const [day, counts] of this.#widgets.days(experiment, query)) {
      addWidgetCounts(sums.get(day)!.widgetEvents, counts);
    }
  }

  #bySubs(query: SummaryQuery, subs: readonly Uint8Array[], sums: Map<number, Sum>): void {
    for (const session of this.#sessions.listed(query, subs)) {
      if (!isInWindow(session.day, query)) continue;
      let sum = sums.get(session.day);
      if (sum === undefined) {
        sum = nothing();
        sums.set(session.day, sum);
      }
      sum.sessions++;
      sum.views += session.views;
      sum.clicks += session.clicks;
      addWidgetCounts(sum.widgetEvents, session.widgetEvents);
      const { attributedMicros, confirmedMicros } = this.#sessions.revenue(session);
      sum.attributedMicros += attributedMicros;
      sum.confirmedMicros += confirmedMicros;
    }
  }
}

function nothing(): Sum {
  const widgetEvents = [...noWidgetEvents];
  return { sessions: 0, views: 0, clicks: 0, attributedMicros: 0, confirmedMicros: 0, widgetEvents };
}
