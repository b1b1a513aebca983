import type { Database, Statement } from 'better-sqlite3';
import { widgetEventTypes } from '../events/ledger-record.ts';
import type { WidgetCounts } from './analytics.ts';
import type { FoldPast, LedgerFold } from './ledger-fold.ts';
import { RowWriter } from './row-writer.ts';
import type { SealedCounters } from './sealed-figures.ts';
import {
  type SealedDay,
  type SealedExperiment,
  type SealedLender,
  type SealedRecord,
  sealedKind,
} from './sealed-record.ts';

type ExperimentRow = [number: number, ...experiment: SealedExperiment[1]];
/** As it is sealed, and what widgets told behind it: nulls for nothing. */
type DayRow = [...counter: SealedDay[1], ...widgetEvents: (number | null)[]];
/** In the very form they are sealed in. */
type LenderRow = SealedLender[1];

/** The daily counters of the store: what a batch adds to them, and how they go into a sealing and come out of one. */
export class StoredCounters {
  readonly #days: RowWriter;
  readonly #widgets: RowWriter;
  readonly #lenders: RowWriter;
  readonly #experiments: Statement<[], ExperimentRow>;
  readonly #daysOf: Statement<[number, number, number], DayRow>;
  readonly #lendersOf: Statement<[number, number, number], LenderRow>;
  readonly #dropDays: Statement<[number]>;
  readonly #dropWidgets: Statement<[number]>;
  readonly #dropLenders: Statement<[number]>;

  constructor(database: Database) {
    this.#days = new RowWriter(
      database,
      'day_counter',
      [
        'experiment',
        'day',
        'device',
        'sessions',
        'views',
        'clicks',
        'attributed_micros',
        'confirmed_micros',
        'confirmed_cents_squared',
      ],
      `ON CONFLICT DO UPDATE SET sessions = sessions + excluded.sessions, views = views + excluded.views,
        clicks = clicks + excluded.clicks, attributed_micros = attributed_micros + excluded.attributed_micros,
        confirmed_micros = confirmed_micros + excluded.confirmed_micros,
        confirmed_cents_squared = confirmed_cents_squared + excluded.confirmed_cents_squared`,
    );
    this.#widgets = new RowWriter(
      database,
      'widget_counter',
      ['experiment', 'day', 'device', ...widgetEventTypes],
      `ON CONFLICT DO UPDATE SET ${widgetEventTypes.map((type) => `${type} = ${type} + excluded.${type}`).join(', ')}`,
    );
    this.#lenders = new RowWriter(
      database,
      'lender_counter',
      ['experiment', 'day', 'lender', 'clicks', 'confirmed_micros'],
      `ON CONFLICT DO UPDATE SET clicks = clicks + excluded.clicks,
        confirmed_micros = confirmed_micros + excluded.confirmed_micros`,
    );
    this.#experiments = database
      .prepare<[], ExperimentRow>('SELECT number, account, vertical, test, tag FROM experiment ORDER BY number')
      .raw();
    this.#daysOf = database
      .prepare<[number, number, number], DayRow>(
        `SELECT day, device, sessions, views, clicks, attributed_micros, confirmed_micros,
          CAST(confirmed_cents_squared AS TEXT), ${widgetEventTypes.join(', ')}
        FROM day_counter LEFT JOIN widget_counter USING (experiment, day, device) WHERE experiment = ? AND day >= ? AND day < ?`,
      )
      .raw();
    this.#lendersOf = database
      .prepare<[number, number, number], LenderRow>(
        `SELECT day, name, clicks, confirmed_micros
        FROM lender_counter JOIN lender ON number = lender WHERE experiment = ? AND day >= ? AND day < ?`,
      )
      .raw();
    this.#dropDays = database.prepare('DELETE FROM day_counter WHERE day < ?');
    this.#dropWidgets = database.prepare('DELETE FROM widget_counter WHERE day < ?');
    this.#dropLenders = database.prepare('DELETE FROM lender_counter WHERE day < ?');
  }

  /** Adds what a batch has counted. */
  add({ days, lenders }: LedgerFold): void {
    for (const { experiment, day, device, sessions, views, clicks, attributedMicros, ...more } of days.values()) {
      const { confirmedMicros, confirmedCentsSquared, widgetEvents } = more;
      const counted = [sessions, views, clicks, attributedMicros, confirmedMicros, confirmedCentsSquared];
      this.#days.add([experiment, day, device, ...counted]);
      if (widgetEvents !== null) this.#widgets.add([experiment, day, device, ...widgetEvents]);
    }
    for (const { experiment, day, lender, clicks, confirmedMicros } of lenders.values()) {
      this.#lenders.add([experiment, day, lender, clicks, confirmedMicros]);
    }
    this.#flush();
  }

  /** Counters of the days from one up to, and without, another. The store must not be written while they are taken. */
  *between(fromDay: number, untilDay: number): SealedCounters {
    for (const [number, ...experiment] of this.#experiments.iterate()) {
      const days = this.#daysOf.all(number, fromDay, untilDay);
      if (days.length === 0) continue;
      yield [sealedKind.experiment, experiment];
      for (const row of days) yield sealedDay(row);
      for (const counter of this.#lendersOf.all(number, fromDay, untilDay)) yield [sealedKind.lender, counter];
    }
  }

  /** Replaces the counters of all days before `untilDay` by those that were sealed. Within a transaction. */
  replace(
    untilDay: number,
    sealed: Iterable<SealedRecord>,
    numbers: Pick<FoldPast, 'experimentNumber' | 'lenderNumber'>,
  ): void {
    this.#dropDays.run(untilDay);
    this.#dropWidgets.run(untilDay);
    this.#dropLenders.run(untilDay);
    let experiment = 0;
    for (const record of sealed) {
      switch (record[0]) {
        case sealedKind.experiment: {
          const [account, vertical, test, tag] = record[1];
          experiment = numbers.experimentNumber(account, vertical, test === 1, tag);
          break;
        }
        case sealedKind.day: {
          const [, counter, widgetEvents] = record;
          const [day, device, sessions, views, clicks, attributedMicros, confirmedMicros, squared] = counter;
          const counted = [sessions, views, clicks, attributedMicros, confirmedMicros, BigInt(squared)];
          this.#days.add([experiment, day, device, ...counted]);
          if (widgetEvents !== undefined) this.#widgets.add([experiment, day, device, ...ofKnownTypes(widgetEvents)]);
          break;
        }
        case sealedKind.lender: {
          const [day, name, clicks, confirmedMicros] = record[1];
          this.#lenders.add([experiment, day, numbers.lenderNumber(name), clicks, confirmedMicros]);
          break;
        }
      }
    }
    this.#flush();
  }

  #flush(): void {
    this.#days.flush();
    this.#widgets.flush();
    this.#lenders.flush();
  }
}

/** Most days have nothing of widgets, and are sealed without a word of it. */
function sealedDay([day, device, sessions, views, clicks, attributedMicros, ...more]: DayRow): SealedDay {
  const [confirmedMicros, squared, ...events] = more;
  const counter: SealedDay[1] = [day, device, sessions, views, clicks, attributedMicros, confirmedMicros, squared];
  return events[0] === null ? [sealedKind.day, counter] : [sealedKind.day, counter, events as number[]];
}

/** Another version may have sealed fewer types, or more. */
function ofKnownTypes(widgetEvents: WidgetCounts): number[] {
  return widgetEventTypes.map((_, type) => widgetEvents[type] ?? 0);
}
