import { daysSinceEpoch } from '../domain/calendar.ts';
import { getOrAdd } from '../domain/get-or-add.ts';
import { decodeSubId, subIdByteLength } from '../ids/sub-id.ts';
import type {
  CohortMetrics,
  CohortQuery,
  LenderMetrics,
  QueryCoverage,
  SessionRow,
  UnbookedClickCounts,
  WidgetCounts,
} from './analytics.ts';
import { emptyUnbookedClickCounts, emptyWidgetCounts } from './counting-rules.ts';
import { decodeVarints, type SqlDatabase } from './sql-database.ts';
import { findTagNumber } from './tags-reader.ts';

export class LenderRevenueTotals {
  readonly #lenders = new Map<number, { clicks: number; confirmedMicros: number }>();

  addClick(lender: number, confirmedMicros: number): void {
    const sum = getOrAdd(this.#lenders, lender, () => ({ clicks: 0, confirmedMicros: 0 }));
    sum.clicks++;
    sum.confirmedMicros += confirmedMicros;
  }

  /** Sorts by clicks descending, then by the UTF-8 bytes of the name, which is the order that SQLite uses. */
  toSortedLenderMetrics(nameOf: (lender: number) => string): LenderMetrics[] {
    return [...this.#lenders]
      .map(([lender, sums]) => ({ lender: nameOf(lender), ...sums }))
      .sort((a, b) => b.clicks - a.clicks || Buffer.compare(Buffer.from(a.lender), Buffer.from(b.lender)));
  }
}

type SessionColumns = [
  tagNumber: number,
  position: number,
  device: number,
  views: number,
  clicks: number,
  lastEventMs: number,
  widgetEvents: Uint8Array | null,
];
type ClickRow = [lender: number, attributedMicros: number, confirmedMicros: number, unbookedReasons: number];

/** Session in the analytics store, without its clicks. */
export interface StoredSession extends Pick<SessionRow, 'sub' | 'device' | 'views' | 'clicks' | 'lastEventMs'> {
  readonly day: number;
  readonly tagNumber: number;
  readonly position: number;
  readonly widgetEvents: WidgetCounts;
}

type SessionRevenue = Pick<CohortMetrics, 'attributedMicros' | 'confirmedMicros'> & {
  readonly unbookedClicks: UnbookedClickCounts;
};

/** Finds referrer tags, sessions and their revenue in the store. Create one reader in the transaction of each query. */
export class SessionReader {
  readonly database: SqlDatabase;
  /** First day (day number) whose sessions are retained. Another process may change it between two queries. */
  readonly firstRetainedDay: number;

  constructor(database: SqlDatabase) {
    this.database = database;
    this.firstRetainedDay = database.value<number>('SELECT kept_from_day FROM retention')!;
  }

  /** Returns the number of the query's referrer tag; null if the query has no tag or the tag has no sessions. */
  findTagNumber(query: CohortQuery): number | null {
    return query.referrerTag === null ? null : findTagNumber(this.database, query, query.referrerTag);
  }

  getCoverage(query: CohortQuery): QueryCoverage {
    const tagHasSessions = query.referrerTag === null || this.findTagNumber(query) !== null;
    return { retainedFromDay: this.firstRetainedDay, tagHasSessions };
  }

  /** Finds a session. Returns null if the session does not exist or is no longer retained. */
  findSession(sub: Uint8Array): StoredSession | null {
    const day = daysSinceEpoch(decodeSubId(sub).createdMs);
    if (day < this.firstRetainedDay) return null;
    const columns = this.database.row<SessionColumns>(
      'SELECT tag_number, position, device, views, clicks, last_event_ms, widget_events FROM session WHERE sub = ?',
      [sub],
    );
    if (columns === null) return null;
    const [tagNumber, position, device, views, clicks, lastEventMs, events] = columns;
    const widgetEvents = events === null ? emptyWidgetCounts : decodeVarints(events);
    return { sub, day, tagNumber, position, device, views, clicks, lastEventMs, widgetEvents };
  }

  /** Yields the sessions in `subs` that match the tenant and tag of the query. Does not check the days of the query. */
  *findListedSessions(query: CohortQuery, subs: readonly Uint8Array[]): Generator<StoredSession, void> {
    const tagNumber = this.findTagNumber(query);
    for (const sub of splitSubs(subs)) {
      const { account, vertical, mode } = decodeSubId(sub);
      if (account !== query.account || vertical !== query.vertical || mode !== query.mode) continue;
      const session = this.findSession(sub);
      if (session !== null && (query.referrerTag === null || session.tagNumber === tagNumber)) yield session;
    }
  }

  /** Returns the revenue of the session's counted clicks and the reasons for missing revenue, and adds each click to `lenders`. */
  sumSessionRevenue({ clicks, position }: StoredSession, lenders?: LenderRevenueTotals): SessionRevenue {
    const sum = { attributedMicros: 0, confirmedMicros: 0 };
    if (clicks === 0) return { ...sum, unbookedClicks: emptyUnbookedClickCounts };
    const unbookedClicks = [...emptyUnbookedClickCounts];
    // In a benchmark, two queries for a session and its clicks were four times as fast as one join.
    const rows = this.database.rows<ClickRow>(
      'SELECT lender, attributed_micros, confirmed_micros, unbooked_reasons FROM click WHERE session = ?',
      [position],
    );
    for (const [lender, attributedMicros, confirmedMicros, unbookedReasons] of rows) {
      sum.attributedMicros += attributedMicros;
      sum.confirmedMicros += confirmedMicros;
      for (const reason of unbookedClicks.keys()) unbookedClicks[reason]! += (unbookedReasons >> reason) & 1;
      lenders?.addClick(lender, confirmedMicros);
    }
    return { ...sum, unbookedClicks };
  }

  readonly lenderNameOf = (lender: number): string =>
    this.database.value<string>('SELECT name FROM lender WHERE number = ?', [lender])!;
}

export function isInDayRange(day: number, { fromDay, toDay }: Pick<CohortQuery, 'fromDay' | 'toDay'>): boolean {
  return day >= fromDay && day <= toDay;
}

/** Yields the sub_ids that are stored one after another. */
export function* splitSubs(subs: readonly Uint8Array[]): Generator<Uint8Array, void> {
  for (const bytes of subs) {
    for (let start = 0; start < bytes.length; start += subIdByteLength) {
      yield bytes.subarray(start, start + subIdByteLength);
    }
  }
}
