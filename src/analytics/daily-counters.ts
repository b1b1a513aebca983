import type { Database, Statement } from 'better-sqlite3';
import { unbookedReasons, widgetEventTypes } from '../ledger/ledger-record.ts';
import { createIncrementSql, prepareArrayQuery, RowWriter } from './analytics-database.ts';
import {
  type ArchivedCounters,
  type ArchivedDay,
  type ArchivedExperimentKey,
  type ArchivedLenderCounters,
  type ArchiveRecord,
  archiveRecordKind,
} from './counter-archive.ts';
import type { LedgerProjection } from './ledger-projection.ts';
import { unbookedClickColumns } from './projection-state.ts';
import type { SqliteProjectionState } from './sqlite-projection-state.ts';

type ExperimentRow = [number: number, ...experiment: ArchivedExperimentKey[1]];
/**
 * Database row of one day: the counters of an archive record, the counts of clicks without revenue, and the widget counts (null on a day
 * without widget events).
 */
type DayRow = [...counter: Required<ArchivedDay[1]>, ...counts: (number | null)[]];
type LenderRow = ArchivedLenderCounters[1];

const dayCounters = [
  ...['sessions', 'views', 'clicks', 'attributed_micros', 'confirmed_micros', 'confirmed_cents_squared'],
  'revenue_sessions',
  ...unbookedClickColumns,
];

/** Assignments that keep the earlier of two first creation times and the later of two last creation times. A null has no effect. */
const sessionTimesUpdateSql = `
  first_session_ms = min(ifnull(first_session_ms, excluded.first_session_ms), ifnull(excluded.first_session_ms, first_session_ms)),
  last_session_ms = max(ifnull(last_session_ms, excluded.last_session_ms), ifnull(excluded.last_session_ms, last_session_ms))`;

/** Reads and writes the daily counters in the store: adds the increments of a batch, reads days to archive, and restores archived days. */
export class DailyCounters {
  readonly #dayWriter: RowWriter;
  readonly #widgetWriter: RowWriter;
  readonly #lenderWriter: RowWriter;
  readonly #selectExperiments: Statement<[], ExperimentRow>;
  readonly #selectDays: Statement<[number, number, number], DayRow>;
  readonly #selectLenders: Statement<[number, number, number], LenderRow>;
  readonly #deleteDays: Statement<[number]>;
  readonly #deleteWidgets: Statement<[number]>;
  readonly #deleteLenders: Statement<[number]>;

  constructor(database: Database) {
    const createWriter = (table: string, keys: readonly string[], counters: readonly string[]) =>
      new RowWriter(
        database,
        table,
        [...keys, ...counters],
        `ON CONFLICT DO UPDATE SET ${createIncrementSql(counters)}`,
      );
    this.#dayWriter = new RowWriter(
      database,
      'day_counter',
      ['experiment', 'day', 'device', ...dayCounters, 'first_session_ms', 'last_session_ms'],
      `ON CONFLICT DO UPDATE SET ${createIncrementSql(dayCounters)}, ${sessionTimesUpdateSql}`,
    );
    this.#widgetWriter = createWriter('widget_counter', ['experiment', 'day', 'device'], widgetEventTypes);
    this.#lenderWriter = createWriter(
      'lender_counter',
      ['experiment', 'day', 'lender'],
      ['clicks', 'confirmed_micros'],
    );
    this.#selectExperiments = prepareArrayQuery(
      database,
      'SELECT number, account, vertical, test, tag FROM experiment ORDER BY number',
    );
    this.#selectDays = prepareArrayQuery(
      database,
      `SELECT day, device, sessions, views, clicks, attributed_micros, confirmed_micros,
          CAST(confirmed_cents_squared AS TEXT), revenue_sessions, first_session_ms, last_session_ms,
          ${[...unbookedClickColumns, ...widgetEventTypes].join(', ')}
        FROM day_counter LEFT JOIN widget_counter USING (experiment, day, device) WHERE experiment = ? AND day >= ? AND day < ?`,
    );
    this.#selectLenders = prepareArrayQuery(
      database,
      `SELECT day, name, clicks, confirmed_micros
        FROM lender_counter JOIN lender ON number = lender WHERE experiment = ? AND day >= ? AND day < ?`,
    );
    this.#deleteDays = database.prepare('DELETE FROM day_counter WHERE day < ?');
    this.#deleteWidgets = database.prepare('DELETE FROM widget_counter WHERE day < ?');
    this.#deleteLenders = database.prepare('DELETE FROM lender_counter WHERE day < ?');
  }

  addCounterChanges({ dayDeltas, lenderDeltas }: LedgerProjection): void {
    for (const { experiment, day, device, sessions, views, clicks, attributedMicros, ...more } of dayDeltas.values()) {
      const { confirmedMicros, confirmedCentsSquared, revenueSessions, unbookedClicks, widgetEvents } = more;
      const revenue = [attributedMicros, confirmedMicros, confirmedCentsSquared, revenueSessions];
      const times = [more.firstSessionMs, more.lastSessionMs];
      this.#dayWriter.add([experiment, day, device, sessions, views, clicks, ...revenue, ...unbookedClicks, ...times]);
      if (widgetEvents !== null) this.#widgetWriter.add([experiment, day, device, ...widgetEvents]);
    }
    for (const { experiment, day, lender, clicks, confirmedMicros } of lenderDeltas.values()) {
      this.#lenderWriter.add([experiment, day, lender, clicks, confirmedMicros]);
    }
    this.#flush();
  }

  /** Yields the counters from `fromDay` (inclusive) to `untilDay` (exclusive). Do not change the store during the iteration. */
  *readDays(fromDay: number, untilDay: number): ArchivedCounters {
    for (const [number, ...experiment] of this.#selectExperiments.iterate()) {
      const days = this.#selectDays.all(number, fromDay, untilDay);
      if (days.length === 0) continue;
      yield [archiveRecordKind.experiment, experiment];
      for (const row of days) yield toArchivedDay(row);
      for (const counter of this.#selectLenders.all(number, fromDay, untilDay))
        yield [archiveRecordKind.lender, counter];
    }
  }

  /** Replaces the counters of all days before `untilDay` with the archived counters. The caller must open a transaction first. */
  restoreArchivedDays(
    untilDay: number,
    archived: Iterable<ArchiveRecord>,
    numbers: Pick<SqliteProjectionState, 'assignExperimentNumber' | 'lenders'>,
  ): void {
    this.#deleteDays.run(untilDay);
    this.#deleteWidgets.run(untilDay);
    this.#deleteLenders.run(untilDay);
    let experiment = 0;
    for (const record of archived) {
      switch (record[0]) {
        case archiveRecordKind.experiment: {
          const [account, vertical, test, tag] = record[1];
          experiment = numbers.assignExperimentNumber(account, vertical, test === 1, tag);
          break;
        }
        case archiveRecordKind.day: {
          const [, counter, widgetEvents = [], unbookedClicks = []] = record;
          const [day, device, sessions, views, clicks, attributedMicros, confirmedMicros, squared, ...more] = counter;
          // Earlier releases archived no number of sessions with revenue. Without revenue, the number is 0.
          const [revenueSessions = confirmedMicros === 0 ? 0 : null, firstMs = null, lastMs = null] = more;
          const revenue = [attributedMicros, confirmedMicros, BigInt(squared), revenueSessions];
          const unbooked = countsFor(unbookedReasons, unbookedClicks);
          this.#dayWriter.add([
            experiment,
            day,
            device,
            sessions,
            views,
            clicks,
            ...revenue,
            ...unbooked,
            firstMs,
            lastMs,
          ]);
          if (widgetEvents.length > 0)
            this.#widgetWriter.add([experiment, day, device, ...countsFor(widgetEventTypes, widgetEvents)]);
          break;
        }
        case archiveRecordKind.lender: {
          const [day, name, clicks, confirmedMicros] = record[1];
          this.#lenderWriter.add([experiment, day, numbers.lenders.findOrInsertRow(name), clicks, confirmedMicros]);
          break;
        }
      }
    }
    this.#flush();
  }

  #flush(): void {
    this.#dayWriter.flush();
    this.#widgetWriter.flush();
    this.#lenderWriter.flush();
  }
}

/** Converts a database row to an archive record. Omits the widget counts, and the counts of clicks without revenue, if there are none. */
function toArchivedDay([day, device, sessions, views, clicks, attributedMicros, ...more]: DayRow): ArchivedDay {
  const [confirmedMicros, squared, revenueSessions, firstMs, lastMs, ...counts] = more;
  const unbooked = counts.splice(0, unbookedReasons.length) as number[];
  const revenue = [attributedMicros, confirmedMicros, squared, revenueSessions] as const;
  const counter: ArchivedDay[1] = [day, device, sessions, views, clicks, ...revenue, firstMs, lastMs];
  const widgetEvents = counts[0] === null ? [] : (counts as number[]);
  if (unbooked.some((count) => count > 0)) return [archiveRecordKind.day, counter, widgetEvents, unbooked];
  return widgetEvents.length === 0 ? [archiveRecordKind.day, counter] : [archiveRecordKind.day, counter, widgetEvents];
}

/** Returns one count for each known name. An archive of another release may contain more or fewer counts, or none. */
function countsFor(names: readonly string[], counts: readonly number[]): number[] {
  return names.map((_, index) => counts[index] ?? 0);
}
