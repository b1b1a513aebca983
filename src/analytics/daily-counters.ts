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
} from './archive-record.ts';
import { addCounts, emptyUnbookedClickCounts, emptyWidgetCounts } from './counting-rules.ts';
import { OfferTotals } from './offer-totals.ts';
import { OfferViews, type ShownOffers } from './offer-views.ts';
import type {
  CountedClick,
  DayCounterChanges,
  OfferCounterChanges,
  ProjectionState,
  SessionState,
} from './projection-state.ts';
import { createDigitsSql, createIncrementSql, RowWriter, type SqlDatabase, toSqlInteger } from './sql-database.ts';

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
  SELECT day, device, sessions, views, clicks, attributed_micros, confirmed_micros, ${createDigitsSql('confirmed_cents_squared')},
    revenue_sessions, first_session_ms, last_session_ms, ${[...unbookedClickColumns, ...widgetEventTypes].join(', ')}
  FROM day_counter LEFT JOIN widget_counter USING (tag_number, day, device) WHERE tag_number = ? AND day >= ? AND day < ?`;

const selectTagSql = 'SELECT account, vertical, test, tag FROM referrer_tag WHERE number = ?';

/** Number of items of `ArchivedDay[1]`, with which a `DayRow` starts. */
const archivedCounterLength = 11;
type DayRow = readonly (number | string | null)[];

/** Omits the offer of a counter that an earlier release archived without it. */
const selectOffersSql = `
  SELECT day, name, clicks, confirmed_micros, id, attributed_micros
  FROM offer_counter JOIN lender ON lender.number = lender LEFT JOIN offer ON offer.number = offer
  WHERE tag_number = ? AND day >= ? AND day < ?`;
type OfferCounterRow = [
  day: number,
  lenderName: string,
  clicks: number,
  confirmedMicros: number,
  ...offer: OfferColumns,
];
type OfferColumns = [offerId: string | null, attributedMicros: number];

/** The daily counters in the store: collects and adds the changes of a batch, reads days to archive, and restores archived days. */
export class DailyCounters {
  readonly #database: SqlDatabase;
  readonly #dayWriter: RowWriter;
  readonly #widgetWriter: RowWriter;
  readonly #offerWriter: RowWriter;
  readonly #offerTotals: OfferTotals;
  readonly #offerViews: OfferViews;
  readonly #dayChanges = new Map<number, DayCounterChanges>();
  readonly #offerChanges = new Map<string, OfferCounterChanges>();

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
    this.#offerWriter = createWriter(
      'offer_counter',
      ['tag_number', 'day', 'lender', 'offer'],
      ['clicks', 'attributed_micros', 'confirmed_micros'],
    );
    this.#offerTotals = new OfferTotals(database);
    this.#offerViews = new OfferViews(database, this.#offerTotals);
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

  changesOfOffer(
    { tagNumber, createdMs }: SessionState,
    { lender, offer }: Pick<CountedClick, 'lender' | 'offer'>,
  ): OfferCounterChanges {
    const day = daysSinceEpoch(createdMs);
    return getOrAdd(this.#offerChanges, `${tagNumber} ${day} ${lender} ${offer}`, () => ({
      tagNumber,
      day,
      lender,
      offer,
      clicks: 0,
      attributedMicros: 0,
      confirmedMicros: 0,
    }));
  }

  changesOfShownOffers(session: SessionState): ShownOffers {
    return this.#offerViews.changesOf(session);
  }

  /** Adds the changes of a batch to the stored counters. */
  writeChanges(): void {
    for (const { tagNumber, day, device, widgetEvents, unbookedClicks, ...sums } of this.#dayChanges.values()) {
      const { sessions, views, clicks, attributedMicros, confirmedMicros, confirmedCentsSquared, revenueSessions } =
        sums;
      const revenue = [attributedMicros, confirmedMicros, toSqlInteger(confirmedCentsSquared), revenueSessions];
      const times = [sums.firstSessionMs, sums.lastSessionMs];
      this.#dayWriter.add([tagNumber, day, device, sessions, views, clicks, ...revenue, ...times, ...unbookedClicks]);
      if (widgetEvents !== null) this.#widgetWriter.add([tagNumber, day, device, ...widgetEvents]);
    }
    for (const { tagNumber, day, lender, offer, ...sums } of this.#offerChanges.values()) {
      const { clicks, attributedMicros, confirmedMicros } = sums;
      this.#offerWriter.add([tagNumber, day, lender, offer, clicks, attributedMicros, confirmedMicros]);
      this.#offerTotals.add(tagNumber, day, offer, sums);
    }
    this.#offerViews.writeChanges();
    this.#flush();
    this.#dayChanges.clear();
    this.#offerChanges.clear();
  }

  /**
   * Yields the counters of the given tags from `fromDay` (inclusive) to `untilDay` (exclusive). No query is open between two records, so the
   * store can change. The caller must start again if counters of these days changed.
   */
  *readDays(fromDay: number, untilDay: number, tagNumbers: Iterable<number>): ArchivedCounters {
    for (const number of tagNumbers) {
      const days = this.#database.rows<DayRow>(selectDaysSql, [number, fromDay, untilDay]);
      if (days.length === 0) continue;
      yield [archiveRecordKind.tag, this.#database.row<ArchivedTagKey[1]>(selectTagSql, [number])!];
      for (const row of days) yield toArchivedDay(row);
      const offers = this.#database.rows<OfferCounterRow>(selectOffersSql, [number, fromDay, untilDay]);
      for (const row of offers) yield toArchivedLenderCounters(row);
      yield* this.#offerViews.readDays(number, fromDay, untilDay);
    }
  }

  /**
   * Replaces the counters of all days before `untilDay` with the archived counters. Returns the first day after all days that an earlier
   * release archived without the counters of offers. The caller must open a transaction first.
   */
  restoreArchivedDays(
    untilDay: number,
    archived: Iterable<ArchiveRecord>,
    numbers: Pick<ProjectionState, 'assignTagNumber' | 'lenders' | 'offers'>,
  ): number {
    for (const table of ['day_counter', 'widget_counter', 'offer_counter', 'offer_view', 'offer_total'])
      this.#database.run(`DELETE FROM ${table} WHERE day < ?`, [untilDay]);
    let tagNumber = 0;
    let offersFromDay = 0;
    for (const record of archived) {
      switch (record[0]) {
        case archiveRecordKind.header:
          if (record[5] !== true) offersFromDay = record[3];
          break;
        case archiveRecordKind.tag: {
          this.#offerViews.writeRestored(tagNumber);
          const [account, vertical, test, tag] = record[1];
          tagNumber = numbers.assignTagNumber(account, vertical, test === 1, tag);
          break;
        }
        case archiveRecordKind.day:
          this.#restoreArchivedDay(tagNumber, record);
          break;
        case archiveRecordKind.lender: {
          const [day, name, clicks, confirmedMicros, offerId, attributedMicros = 0] = record[1];
          const offer = offerId === undefined ? 0 : numbers.offers.findOrInsert(offerId);
          const lender = numbers.lenders.findOrInsert(name);
          this.#offerWriter.add([tagNumber, day, lender, offer, clicks, attributedMicros, confirmedMicros]);
          this.#offerTotals.add(tagNumber, day, offer, { clicks, attributedMicros, confirmedMicros });
          break;
        }
        case archiveRecordKind.offerViews:
          this.#offerViews.restore(numbers.offers.findOrInsert(record[1][1]), record);
          break;
      }
    }
    this.#offerViews.writeRestored(tagNumber);
    this.#flush();
    return offersFromDay;
  }

  #restoreArchivedDay(tagNumber: number, [, counter, widgetEvents = [], unbookedClicks = []]: ArchivedDay): void {
    const [day, device, sessions, views, clicks, attributedMicros, confirmedMicros, squared, ...more] = counter;
    // Earlier releases archived no number of sessions with revenue. Without revenue, the number is 0.
    const [revenueSessions = confirmedMicros === 0 ? 0 : null, firstMs = null, lastMs = null] = more;
    const revenue = [attributedMicros, confirmedMicros, toSqlInteger(BigInt(squared)), revenueSessions];
    // An archive of another release may contain more or fewer counts, or none.
    const unbooked = addCounts([...emptyUnbookedClickCounts], unbookedClicks);
    this.#dayWriter.add([tagNumber, day, device, sessions, views, clicks, ...revenue, firstMs, lastMs, ...unbooked]);
    if (widgetEvents.length === 0) return;
    this.#widgetWriter.add([tagNumber, day, device, ...addCounts([...emptyWidgetCounts], widgetEvents)]);
  }

  #flush(): void {
    this.#dayWriter.flush();
    this.#widgetWriter.flush();
    this.#offerWriter.flush();
    this.#offerTotals.flush();
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

/** Converts a database row to an archive record. Omits the offer if an earlier release archived the counter without it. */
function toArchivedLenderCounters([day, name, clicks, confirmedMicros, offerId, attributedMicros]: OfferCounterRow) {
  const counter: ArchivedLenderCounters[1] =
    offerId === null
      ? [day, name, clicks, confirmedMicros]
      : [day, name, clicks, confirmedMicros, offerId, attributedMicros];
  return [archiveRecordKind.lender, counter] as const;
}
