import { daysSinceEpoch } from '../domain/calendar.ts';
import { getOrAdd } from '../domain/get-or-add.ts';
import { unbookedReasons, widgetEventTypes } from '../ledger/ledger-record.ts';
import { unbookedClickColumns } from './analytics-database.ts';
import {
  type ArchivedCounters,
  type ArchivedDay,
  type ArchivedLenderCounters,
  type ArchivedTagKey,
  type ArchiveRecord,
  archiveRecordKind,
} from './counter-archive.ts';
import { addCounts, emptyUnbookedClickCounts, emptyWidgetCounts } from './counting-rules.ts';
import type { DayCounterChanges, LenderCounterChanges, ProjectionState, SessionState } from './projection-state.ts';
import { createIncrementSql, RowWriter, type SqlDatabase } from './sql-database.ts';

/** Columns of a counter in an archive record that can be added, after `day` and `device`. */
const archivedSums = [
  ...['sessions', 'views', 'clicks', 'attributed_micros', 'confirmed_micros', 'confirmed_cents_squared'],
  'revenue_sessions',
];

/** Assignments that keep the earlier of two first creation times and the later of two last creation times. A null has no effect. */
const sessionTimesUpdateSql = `
  first_session_ms = min(ifnull(first_session_ms, excluded.first_session_ms), ifnull(excluded.first_session_ms, first_session_ms)),
  last_session_ms = max(ifnull(last_session_ms, excluded.last_session_ms), ifnull(excluded.last_session_ms, last_session_ms))`;

/** Selects the counter of an archive record, the counts of clicks without revenue, and the widget counts (null on a day without any). */
const selectDaysSql = `
  SELECT day, device, sessions, views, clicks, attributed_micros, confirmed_micros, CAST(confirmed_cents_squared AS TEXT),
    revenue_sessions, first_session_ms, last_session_ms, ${[...unbookedClickColumns, ...widgetEventTypes].join(', ')}
  FROM day_counter LEFT JOIN widget_counter USING (tag_number, day, device) WHERE tag_number = ? AND day >= ? AND day < ?`;

/** Number of items of `ArchivedDay[1]`, with which a `DayRow` starts. */
const archivedCounterLength = 11;
type DayRow = readonly (number | string | null)[];

const selectLendersSql = `
  SELECT day, name, clicks, confirmed_micros
  FROM lender_counter JOIN lender ON number = lender WHERE tag_number = ? AND day >= ? AND day < ?`;

/** The daily counters in the store: collects and adds the changes of a batch, reads days to archive, and restores archived days. */
export class DailyCounters {
  readonly #database: SqlDatabase;
  readonly #dayWriter: RowWriter;
  readonly #widgetWriter: RowWriter;
  readonly #lenderWriter: RowWriter;
  readonly #dayChanges = new Map<number, DayCounterChanges>();
  readonly #lenderChanges = new Map<string, LenderCounterChanges>();

  constructor(database: SqlDatabase) {
    this.#database = database;
    const createWriter = (table: string, keys: readonly string[], sums: readonly string[]) =>
      new RowWriter(database, table, [...keys, ...sums], `ON CONFLICT DO UPDATE SET ${createIncrementSql(sums)}`);
    this.#dayWriter = new RowWriter(
      database,
      'day_counter',
      ['tag_number', 'day', 'device', ...archivedSums, 'first_session_ms', 'last_session_ms', ...unbookedClickColumns],
      `ON CONFLICT DO UPDATE SET ${createIncrementSql([...archivedSums, ...unbookedClickColumns])}, ${sessionTimesUpdateSql}`,
    );
    this.#widgetWriter = createWriter('widget_counter', ['tag_number', 'day', 'device'], widgetEventTypes);
    this.#lenderWriter = createWriter(
      'lender_counter',
      ['tag_number', 'day', 'lender'],
      ['clicks', 'confirmed_micros'],
    );
  }

  changesOfDay({ tagNumber, createdMs, device }: SessionState): DayCounterChanges {
    const day = daysSinceEpoch(createdMs);
    // The map key is a safe integer: a day has at most 22 bits, a device class 3 bits and a tag number 28 bits.
    const key = (tagNumber * 2 ** 22 + day) * 8 + device;
    return getOrAdd(this.#dayChanges, key, () => ({
      tagNumber,
      day,
      device,
      sessions: 0,
      views: 0,
      clicks: 0,
      attributedMicros: 0,
      confirmedMicros: 0,
      confirmedCentsSquared: 0n,
      revenueSessions: 0,
      firstSessionMs: null,
      lastSessionMs: null,
      widgetEvents: null,
      unbookedClicks: [...emptyUnbookedClickCounts],
    }));
  }

  changesOfLender({ tagNumber, createdMs }: SessionState, lender: number): LenderCounterChanges {
    const day = daysSinceEpoch(createdMs);
    return getOrAdd(this.#lenderChanges, `${tagNumber} ${day} ${lender}`, () => ({
      tagNumber,
      day,
      lender,
      clicks: 0,
      confirmedMicros: 0,
    }));
  }

  /** Adds the changes of a batch to the stored counters. */
  writeChanges(): void {
    for (const { tagNumber, day, device, widgetEvents, unbookedClicks, ...sums } of this.#dayChanges.values()) {
      const { sessions, views, clicks, attributedMicros, confirmedMicros, confirmedCentsSquared, revenueSessions } =
        sums;
      const revenue = [attributedMicros, confirmedMicros, confirmedCentsSquared, revenueSessions];
      const times = [sums.firstSessionMs, sums.lastSessionMs];
      this.#dayWriter.add([tagNumber, day, device, sessions, views, clicks, ...revenue, ...times, ...unbookedClicks]);
      if (widgetEvents !== null) this.#widgetWriter.add([tagNumber, day, device, ...widgetEvents]);
    }
    for (const { tagNumber, day, lender, clicks, confirmedMicros } of this.#lenderChanges.values()) {
      this.#lenderWriter.add([tagNumber, day, lender, clicks, confirmedMicros]);
    }
    this.#flush();
    this.#dayChanges.clear();
    this.#lenderChanges.clear();
  }

  /** Yields the counters from `fromDay` (inclusive) to `untilDay` (exclusive). Do not change the store during the iteration. */
  *readDays(fromDay: number, untilDay: number): ArchivedCounters {
    const tags = this.#database.iterateRows<[number: number, ...key: ArchivedTagKey[1]]>(
      'SELECT number, account, vertical, test, tag FROM referrer_tag ORDER BY number',
    );
    for (const [number, ...key] of tags) {
      const days = this.#database.rows<DayRow>(selectDaysSql, [number, fromDay, untilDay]);
      if (days.length === 0) continue;
      yield [archiveRecordKind.tag, key];
      for (const row of days) yield toArchivedDay(row);
      const lenders = this.#database.rows<ArchivedLenderCounters[1]>(selectLendersSql, [number, fromDay, untilDay]);
      for (const counter of lenders) yield [archiveRecordKind.lender, counter];
    }
  }

  /** Replaces the counters of all days before `untilDay` with the archived counters. The caller must open a transaction first. */
  restoreArchivedDays(
    untilDay: number,
    archived: Iterable<ArchiveRecord>,
    numbers: Pick<ProjectionState, 'assignTagNumber' | 'lenders'>,
  ): void {
    for (const table of ['day_counter', 'widget_counter', 'lender_counter'])
      this.#database.run(`DELETE FROM ${table} WHERE day < ?`, [untilDay]);
    let tagNumber = 0;
    for (const record of archived) {
      switch (record[0]) {
        case archiveRecordKind.tag: {
          const [account, vertical, test, tag] = record[1];
          tagNumber = numbers.assignTagNumber(account, vertical, test === 1, tag);
          break;
        }
        case archiveRecordKind.day:
          this.#restoreArchivedDay(tagNumber, record);
          break;
        case archiveRecordKind.lender: {
          const [day, name, clicks, confirmedMicros] = record[1];
          this.#lenderWriter.add([tagNumber, day, numbers.lenders.findOrInsert(name), clicks, confirmedMicros]);
          break;
        }
      }
    }
    this.#flush();
  }

  #restoreArchivedDay(tagNumber: number, [, counter, widgetEvents = [], unbookedClicks = []]: ArchivedDay): void {
    const [day, device, sessions, views, clicks, attributedMicros, confirmedMicros, squared, ...more] = counter;
    // Earlier releases archived no number of sessions with revenue. Without revenue, the number is 0.
    const [revenueSessions = confirmedMicros === 0 ? 0 : null, firstMs = null, lastMs = null] = more;
    const revenue = [attributedMicros, confirmedMicros, BigInt(squared), revenueSessions];
    // An archive of another release may contain more or fewer counts, or none.
    const unbooked = addCounts([...emptyUnbookedClickCounts], unbookedClicks);
    this.#dayWriter.add([tagNumber, day, device, sessions, views, clicks, ...revenue, firstMs, lastMs, ...unbooked]);
    if (widgetEvents.length === 0) return;
    this.#widgetWriter.add([tagNumber, day, device, ...addCounts([...emptyWidgetCounts], widgetEvents)]);
  }

  #flush(): void {
    this.#dayWriter.flush();
    this.#widgetWriter.flush();
    this.#lenderWriter.flush();
  }
}

/** Converts a database row to an archive record. Omits the widget counts, and the counts of clicks without revenue, if there are none. */
function toArchivedDay(row: DayRow): ArchivedDay {
  const counter = row.slice(0, archivedCounterLength) as unknown as ArchivedDay[1];
  const unbooked = row.slice(archivedCounterLength, archivedCounterLength + unbookedReasons.length) as number[];
  const widgets = row.slice(archivedCounterLength + unbookedReasons.length);
  const widgetEvents = widgets[0] === null ? [] : (widgets as number[]);
  if (unbooked.some((count) => count > 0)) return [archiveRecordKind.day, counter, widgetEvents, unbooked];
  return widgetEvents.length === 0 ? [archiveRecordKind.day, counter] : [archiveRecordKind.day, counter, widgetEvents];
}
