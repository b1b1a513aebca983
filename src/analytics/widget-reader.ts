import type { Database, Statement } from 'better-sqlite3';
import { widgetEventTypes } from '../events/ledger-record.ts';
import type { CohortQuery, WidgetCounts } from './analytics.ts';

type WidgetDayRow = [day: number, ...counts: number[]];

/** Reads what the widgets of an experiment told (docs/contract.md#widget-events) from the store. */
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

  /** By cohort day; days without an event are left out. */
  countsByDay(experiment: number, { fromDay, toDay }: CohortQuery): Map<number, WidgetCounts> {
    return new Map(this.#selectDays.all(experiment, fromDay, toDay).map(([day, ...counts]) => [day, counts]));
  }
}
