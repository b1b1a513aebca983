import type { Database, Statement } from 'better-sqlite3';
import { widgetEventTypes } from '../events/ledger-record.ts';
import type { CohortQuery, WidgetCounts } from './analytics.ts';

type DayRow = [day: number, ...counts: number[]];

/** Reads what the widgets of an experiment told (docs/contract.md#widget-events) from the store. */
export class WidgetReader {
  readonly #days: Statement<[number, number, number], DayRow>;

  constructor(database: Database) {
    this.#days = database
      .prepare<[number, number, number], DayRow>(
        `SELECT day, ${widgetEventTypes.map((type) => `sum(${type})`).join(', ')}
        FROM widget_counter WHERE experiment = ? AND day BETWEEN ? AND ? GROUP BY day`,
      )
      .raw();
  }

  /** By cohort day; days without an event are left out. */
  days(experiment: number, { fromDay, toDay }: CohortQuery): Map<number, WidgetCounts> {
    return new Map(this.#days.all(experiment, fromDay, toDay).map(([day, ...counts]) => [day, counts]));
  }
}
