import type { Database, Statement } from 'better-sqlite3';
import { daysSinceEpoch } from '../domain/calendar.ts';
import { decodeSubId, subIdByteLength } from '../ids/sub-id.ts';
import type {
  CohortMetrics,
  CohortQuery,
  LenderMetrics,
  QueryCoverage,
  UnbookedClickCounts,
  WidgetCounts,
} from './analytics.ts';
import { decodeVarints, prepareArrayQuery, prepareSingleValueQuery } from './analytics-database.ts';
import { emptyUnbookedClickCounts, emptyWidgetCounts } from './counting-rules.ts';
import type { RetentionCutoff } from './store-retention.ts';

export class LenderRevenueTotals {
  readonly #lenders = new Map<number, { clicks: number; confirmedMicros: number }>();

  addClick(lender: number, confirmedMicros: number): void {
    const sum = this.#lenders.get(lender);
    if (sum === undefined) {
      this.#lenders.set(lender, { clicks: 1, confirmedMicros });
    } else {
      sum.clicks++;
      sum.confirmedMicros += confirmedMicros;
    }
  }

  /** Sorts by clicks descending, then by the UTF-8 bytes of the name, which is the order that SQLite uses. */
  toSortedLenderMetrics(nameOf: (lender: number) => string): LenderMetrics[] {
    return [...this.#lenders]
      .map(([lender, sums]) => ({ lender: nameOf(lender), ...sums }))
      .sort((a, b) => b.clicks - a.clicks || Buffer.compare(Buffer.from(a.lender), Buffer.from(b.lender)));
  }
}

type SessionColumns = [
  experiment: number,
  position: number,
  device: number,
  views: number,
  clicks: number,
  lastEventMs: number,
  widgetEvents: Uint8Array | null,
];
type ExperimentColumns = [account: number, vertical: number, test: number, tag: string];
type ClickRow = [lender: number, attributedMicros: number, confirmedMicros: number, unbookedReasons: number];

/** Session in the analytics store, without its clicks. */
export interface StoredSession {
  readonly sub: Uint8Array;
  readonly day: number;
  readonly experiment: number;
  readonly position: number;
  readonly device: number;
  readonly views: number;
  readonly clicks: number;
  readonly lastEventMs: number;
  readonly widgetEvents: WidgetCounts;
}

type SessionRevenue = Pick<CohortMetrics, 'attributedMicros' | 'confirmedMicros'> & {
  readonly unbookedClicks: UnbookedClickCounts;
};

/** Finds experiments, sessions and their revenue in the store. */
export class SessionReader {
  readonly #retainedSessions: RetentionCutoff;
  readonly #selectExperimentNumber: Statement<[number, number, number, string], number>;
  readonly #selectExperiment: Statement<[number], ExperimentColumns>;
  readonly #selectSession: Statement<[Uint8Array], SessionColumns>;
  readonly #selectClicks: Statement<[number], ClickRow>;
  readonly #selectLenderName: Statement<[number], string>;

  constructor(database: Database, retainedSessions: RetentionCutoff) {
    this.#retainedSessions = retainedSessions;
    this.#selectExperimentNumber = prepareSingleValueQuery(
      database,
      'SELECT number FROM experiment WHERE account = ? AND vertical = ? AND test = ? AND tag = ?',
    );
    this.#selectExperiment = prepareArrayQuery(
      database,
      'SELECT account, vertical, test, tag FROM experiment WHERE number = ?',
    );
    // In a benchmark, two queries that return rows as arrays were four times as fast as one join that returns objects.
    this.#selectSession = prepareArrayQuery(
      database,
      'SELECT experiment, position, device, views, clicks, last_event_ms, widget_events FROM session WHERE sub = ?',
    );
    this.#selectClicks = prepareArrayQuery(
      database,
      'SELECT lender, attributed_micros, confirmed_micros, unbooked_reasons FROM click WHERE session = ?',
    );
    this.#selectLenderName = prepareSingleValueQuery(database, 'SELECT name FROM lender WHERE number = ?');
  }

  /** Returns the experiment number of the query's referrer tag; undefined if the query has no tag or the tag has no sessions. */
  findExperimentNumber({ account, vertical, mode, referrerTag }: CohortQuery): number | undefined {
    if (referrerTag === null) return undefined;
    return this.#selectExperimentNumber.get(account, vertical, mode === 'test' ? 1 : 0, referrerTag);
  }

  get firstRetainedDay(): number {
    return this.#retainedSessions.firstRetainedDay;
  }

  getCoverage(query: CohortQuery): QueryCoverage {
    const tagHasSessions = query.referrerTag === null || this.findExperimentNumber(query) !== undefined;
    return { retainedFromDay: this.firstRetainedDay, tagHasSessions };
  }

  referrerTagOf(experiment: number): string {
    const [, , , tag] = this.#selectExperiment.get(experiment)!;
    return tag;
  }

  /** Finds a session. Returns undefined if the session does not exist or is no longer retained. */
  findSession(sub: Uint8Array): StoredSession | undefined {
    const day = daysSinceEpoch(decodeSubId(sub).createdMs);
    if (day < this.#retainedSessions.firstRetainedDay) return undefined;
    const columns = this.#selectSession.get(sub);
    if (columns === undefined) return undefined;
    const [experiment, position, device, views, clicks, lastEventMs, events] = columns;
    const widgetEvents = events === null ? emptyWidgetCounts : decodeVarints(events);
    return { sub, day, experiment, position, device, views, clicks, lastEventMs, widgetEvents };
  }

  /** Yields the sessions in `subs` that match the tenant and tag of the query. Does not check the days of the query. */
  *findListedSessions(query: CohortQuery, subs: readonly Uint8Array[]): Generator<StoredSession, void> {
    const matches = new Map<number, boolean>();
    for (const sub of splitSubs(subs)) {
      const session = this.findSession(sub);
      if (session === undefined) continue;
      let isMatch = matches.get(session.experiment);
      if (isMatch === undefined) {
        isMatch = this.#matchesQuery(query, session.experiment);
        matches.set(session.experiment, isMatch);
      }
      if (isMatch) yield session;
    }
  }

  /** Returns the revenue of the session's counted clicks and the reasons for missing revenue, and adds each click to `lenders`. */
  sumSessionRevenue({ clicks, position }: StoredSession, lenders?: LenderRevenueTotals): SessionRevenue {
    const sum = { attributedMicros: 0, confirmedMicros: 0 };
    if (clicks === 0) return { ...sum, unbookedClicks: emptyUnbookedClickCounts };
    const unbookedClicks = [...emptyUnbookedClickCounts];
    for (const [lender, attributedMicros, confirmedMicros, unbookedReasons] of this.#selectClicks.all(position)) {
      sum.attributedMicros += attributedMicros;
      sum.confirmedMicros += confirmedMicros;
      for (const reason of unbookedClicks.keys()) unbookedClicks[reason]! += (unbookedReasons >> reason) & 1;
      lenders?.addClick(lender, confirmedMicros);
    }
    return { ...sum, unbookedClicks };
  }

  readonly lenderNameOf = (lender: number): string => this.#selectLenderName.get(lender)!;

  #matchesQuery(query: CohortQuery, experiment: number): boolean {
    const [account, vertical, test, tag] = this.#selectExperiment.get(experiment)!;
    return (
      account === query.account &&
      vertical === query.vertical &&
      (test === 1) === (query.mode === 'test') &&
      (query.referrerTag === null || query.referrerTag === tag)
    );
  }
}

export function isInDayRange(day: number, { fromDay, toDay }: Pick<CohortQuery, 'fromDay' | 'toDay'>): boolean {
  return day >= fromDay && day <= toDay;
}

function* splitSubs(subs: readonly Uint8Array[]): Generator<Uint8Array, void> {
  for (const bytes of subs) {
    for (let start = 0; start < bytes.length; start += subIdByteLength) {
      yield bytes.subarray(start, start + subIdByteLength);
    }
  }
}
