import type { Database, Statement } from 'better-sqlite3';
import { dayOf } from '../domain/calendar.ts';
import { decodeSubId } from '../sessions/sub-id.ts';
import type { CohortQuery, CohortMetrics, WidgetCounts } from './analytics.ts';
import type { RetainedSessions } from './kept-sessions.ts';
import type { LenderAccumulator } from './lender-tally.ts';
import { decodeVarints } from './varints.ts';
import { zeroWidgetCounts } from './widget-counts.ts';

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
type ClickRow = [lender: number, attributedMicros: number, confirmedMicros: number];

/** A session as the store keeps it, without what was clicked in it. */
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

type SessionRevenue = Pick<CohortMetrics, 'attributedMicros' | 'confirmedMicros'>;

/** Finds experiments, sessions and their revenue in the store, for whoever answers questions from it. */
export class SessionReader {
  readonly #retainedSessions: RetainedSessions;
  readonly #selectExperimentNumber: Statement<[number, number, number, string], number>;
  readonly #selectExperiment: Statement<[number], ExperimentColumns>;
  readonly #selectSession: Statement<[Uint8Array], SessionColumns>;
  readonly #selectClicks: Statement<[number], ClickRow>;
  readonly #selectLenderName: Statement<[number], string>;

  constructor(database: Database, retainedSessions: RetainedSessions) {
    this.#retainedSessions = retainedSessions;
    this.#selectExperimentNumber = database
      .prepare<[number, number, number, string], number>(
        'SELECT number FROM experiment WHERE account = ? AND vertical = ? AND test = ? AND tag = ?',
      )
      .pluck();
    this.#selectExperiment = database
      .prepare<[number], ExperimentColumns>('SELECT account, vertical, test, tag FROM experiment WHERE number = ?')
      .raw();
    // One id costs two small searches in rows without names; joined, and as objects, it took four times as long.
    this.#selectSession = database
      .prepare<[Uint8Array], SessionColumns>(
        'SELECT experiment, position, device, views, clicks, last_event_ms, widget_events FROM session WHERE sub = ?',
      )
      .raw();
    this.#selectClicks = database
      .prepare<[number], ClickRow>('SELECT lender, attributed_micros, confirmed_micros FROM click WHERE session = ?')
      .raw();
    this.#selectLenderName = database.prepare<[number], string>('SELECT name FROM lender WHERE number = ?').pluck();
  }

  /** The number of the tag's experiment; undefined for one without sessions. */
  findExperiment({ account, vertical, mode }: CohortQuery, referrerTag: string): number | undefined {
    return this.#selectExperimentNumber.get(account, vertical, mode === 'test' ? 1 : 0, referrerTag);
  }

  /** The first day whose sessions are kept. */
  get retainedFromDay(): number {
    return this.#retainedSessions.fromDay;
  }

  referrerTagOf(experiment: number): string {
    const [, , , tag] = this.#selectExperiment.get(experiment)!;
    return tag;
  }

  /** Undefined for one that never was, and for one that is no longer kept. */
  findSession(sub: Uint8Array): StoredSession | undefined {
    const day = dayOf(decodeSubId(sub).createdMs);
    if (day < this.#retainedSessions.fromDay) return undefined;
    const columns = this.#selectSession.get(sub);
    if (columns === undefined) return undefined;
    const [experiment, position, device, views, clicks, lastEventMs, events] = columns;
    const widgetEvents = events === null ? zeroWidgetCounts : decodeVarints(events);
    return { sub, day, experiment, position, device, views, clicks, lastEventMs, widgetEvents };
  }

  /** Those of the listed sessions that are the asker's, and of the tag asked for, whatever their day. */
  *findListed(query: CohortQuery, subs: readonly Uint8Array[]): Generator<StoredSession, void> {
    const wanted = new Map<number, boolean>();
    for (const sub of subs) {
      const session = this.findSession(sub);
      if (session === undefined) continue;
      let isWanted = wanted.get(session.experiment);
      if (isWanted === undefined) {
        isWanted = this.#matchesQuery(query, session.experiment);
        wanted.set(session.experiment, isWanted);
      }
      if (isWanted) yield session;
    }
  }

  /** What the counted clicks of a session come to; each is added to `lenders` as well, where they are asked for. */
  sumRevenue({ clicks, position }: StoredSession, lenders?: LenderAccumulator): SessionRevenue {
    const sum = { attributedMicros: 0, confirmedMicros: 0 };
    if (clicks === 0) return sum;
    for (const [lender, attributedMicros, confirmedMicros] of this.#selectClicks.all(position)) {
      sum.attributedMicros += attributedMicros;
      sum.confirmedMicros += confirmedMicros;
      lenders?.addClick(lender, confirmedMicros);
    }
    return sum;
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

export function isInWindow(day: number, { fromDay, toDay }: Pick<CohortQuery, 'fromDay' | 'toDay'>): boolean {
  return day >= fromDay && day <= toDay;
}
