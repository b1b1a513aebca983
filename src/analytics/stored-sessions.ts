import type { Database, Statement } from 'better-sqlite3';
import { dayOf } from '../domain/calendar.ts';
import { decodeSubId } from '../sessions/sub-id.ts';
import type { CohortQuery, Figures, WidgetCounts } from './analytics.ts';
import type { KeptSessions } from './kept-sessions.ts';
import type { LenderTally } from './lender-tally.ts';
import { decodeVarints } from './varints.ts';
import { noWidgetEvents } from './widget-counts.ts';

type SessionColumns = [
  experiment: number,
  position: number,
  device: number,
  views: number,
  clicks: number,
  lastEventMs: number,
  widgetEvents: Uint8Array | null,
];
type ExperimentRow = [account: number, vertical: number, test: number, tag: string];
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

type SessionRevenue = Pick<Figures, 'attributedMicros' | 'confirmedMicros'>;

/** Finds experiments, sessions and their revenue in the store, for whoever answers questions from it. */
export class StoredSessions {
  readonly #kept: KeptSessions;
  readonly #experiment: Statement<[number, number, number, string], number>;
  readonly #experimentOf: Statement<[number], ExperimentRow>;
  readonly #session: Statement<[Uint8Array], SessionColumns>;
  readonly #clicks: Statement<[number], ClickRow>;
  readonly #lenderName: Statement<[number], string>;

  constructor(database: Database, kept: KeptSessions) {
    this.#kept = kept;
    this.#experiment = database
      .prepare<[number, number, number, string], number>(
        'SELECT number FROM experiment WHERE account = ? AND vertical = ? AND test = ? AND tag = ?',
      )
      .pluck();
    this.#experimentOf = database
      .prepare<[number], ExperimentRow>('SELECT account, vertical, test, tag FROM experiment WHERE number = ?')
      .raw();
    // One id costs two small searches in rows without names; joined, and as objects, it took four times as long.
    this.#session = database
      .prepare<[Uint8Array], SessionColumns>(
        'SELECT experiment, position, device, views, clicks, last_event_ms, widget_events FROM session WHERE sub = ?',
      )
      .raw();
    this.#clicks = database
      .prepare<[number], ClickRow>('SELECT lender, attributed_micros, confirmed_micros FROM click WHERE session = ?')
      .raw();
    this.#lenderName = database.prepare<[number], string>('SELECT name FROM lender WHERE number = ?').pluck();
  }

  /** The number of the tag's experiment; undefined for one without sessions. */
  experiment({ account, vertical, mode }: CohortQuery, referrerTag: string): number | undefined {
    return this.#experiment.get(account, vertical, mode === 'test' ? 1 : 0, referrerTag);
  }

  /** The first day whose sessions are kept. */
  get keptFromDay(): number {
    return this.#kept.fromDay;
  }

  referrerTag(experiment: number): string {
    const [, , , tag] = this.#experimentOf.get(experiment)!;
    return tag;
  }

  /** Undefined for one that never was, and for one that is no longer kept. */
  find(sub: Uint8Array): StoredSession | undefined {
    const day = dayOf(decodeSubId(sub).createdMs);
    if (day < this.#kept.fromDay) return undefined;
    const columns = this.#session.get(sub);
    if (columns === undefined) return undefined;
    const [experiment, position, device, views, clicks, lastEventMs, events] = columns;
    const widgetEvents = events === null ? noWidgetEvents : decodeVarints(events);
    return { sub, day, experiment, position, device, views, clicks, lastEventMs, widgetEvents };
  }

  /** Those of the listed sessions that are the asker's, and of the tag asked for, whatever their day. */
  *listed(query: CohortQuery, subs: readonly Uint8Array[]): Generator<StoredSession, void> {
    const wanted = new Map<number, boolean>();
    for (const sub of subs) {
      const session = this.find(sub);
      if (session === undefined) continue;
      let isWanted = wanted.get(session.experiment);
      if (isWanted === undefined) {
        isWanted = this.#isWanted(query, session.experiment);
        wanted.set(session.experiment, isWanted);
      }
      if (isWanted) yield session;
    }
  }

  /** What the counted clicks of a session come to; each is added to `lenders` as well, where they are asked for. */
  revenue({ clicks, position }: StoredSession, lenders?: LenderTally): SessionRevenue {
    const sum = { attributedMicros: 0, confirmedMicros: 0 };
    if (clicks === 0) return sum;
    for (const [lender, attributedMicros, confirmedMicros] of this.#clicks.all(position)) {
      sum.attributedMicros += attributedMicros;
      sum.confirmedMicros += confirmedMicros;
      lenders?.add(lender, confirmedMicros);
    }
    return sum;
  }

  readonly lenderName = (lender: number): string => this.#lenderName.get(lender)!;

  #isWanted(query: CohortQuery, experiment: number): boolean {
    const [account, vertical, test, tag] = this.#experimentOf.get(experiment)!;
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
