import type { Database, Statement } from 'better-sqlite3';
import { subIdByteLength } from '../ids/sub-id.ts';
import type { RowsPage, RowsQuery, SessionRow } from './analytics.ts';
import { isInWindow, LenderAccumulator, type SessionReader, type StoredSession } from './session-reader.ts';

type DayHead = [day: number, from: number];

/**
 * Answers sessions one by one (docs/contract.md#rows), in ledger order, from the store. A page costs about the same wherever it lies: the
 * sessions of a tag come from the lists of its days, read from where the page begins.
 */
export class RowsReader {
  readonly #sessions: SessionReader;
  readonly #selectDayHeads: Statement<[{ experiment: number; fromDay: number; toDay: number; after: number }], DayHead>;
  readonly #selectCohortPieces: Statement<[number, number, number], Buffer>;
  readonly #selectMetadata: Statement<[number], string>;

  constructor(database: Database, sessions: SessionReader) {
    this.#sessions = sessions;
    // One search a day: no day has more than one row in `days`, and the list of each is entered where it goes on.
    this.#selectDayHeads = database
      .prepare<[{ experiment: number; fromDay: number; toDay: number; after: number }], DayHead>(
        `WITH days AS (
          SELECT DISTINCT day FROM day_counter WHERE experiment = @experiment AND day BETWEEN @fromDay AND @toDay
        ), heads AS (
          SELECT day, (
            SELECT first_position FROM cohort_piece
            WHERE experiment = @experiment AND day = days.day AND last_position > @after
            ORDER BY last_position LIMIT 1
          ) AS head FROM days
        )
        SELECT day, head FROM heads WHERE head IS NOT NULL ORDER BY head`,
      )
      .raw();
    this.#selectCohortPieces = database
      .prepare<[number, number, number], Buffer>(
        `SELECT subs FROM cohort_piece WHERE experiment = ? AND day = ? AND last_position > ? ORDER BY last_position`,
      )
      .pluck();
    this.#selectMetadata = database
      .prepare<[number], string>('SELECT json FROM session_metadata WHERE session = ?')
      .pluck();
  }

  listRows(query: RowsQuery): RowsPage {
    const found = query.subs === null ? this.#findByTag(query) : this.#findBySubs(query, query.subs);
    const page = found.slice(0, query.limit);
    return {
      rows: page.map((session) => this.#toRow(session)),
      retainedFromDay: this.#sessions.retainedFromDay,
      nextAfterPosition: found.length > query.limit ? page.at(-1)!.position : null,
    };
  }

  #findBySubs(query: RowsQuery, subs: readonly Uint8Array[]): StoredSession[] {
    const found: StoredSession[] = [];
    for (const session of this.#sessions.findListed(query, subs)) {
      if (isInWindow(session.day, query) && session.position > query.afterPosition) found.push(session);
    }
    return found.sort(byPosition);
  }

  /**
   * The first sessions of the window's days, at least one more than the page holds, if there are as many. Ledger order is
   * nearly the order of days, so nearly always one day or two are read; where a clock was set back they overlap, and every
   * day is read that may hold one of the first.
   */
  #findByTag(query: RowsQuery): StoredSession[] {
    const { referrerTag, toDay, afterPosition: after, limit } = query;
    const fromDay = Math.max(query.fromDay, this.#sessions.retainedFromDay);
    const experiment = referrerTag === null ? undefined : this.#sessions.findExperiment(query, referrerTag);
    if (experiment === undefined) return [];
    let found: StoredSession[] = [];
    for (const [day, from] of this.#selectDayHeads.all({ experiment, fromDay, toDay, after })) {
      if (found.length > limit && from > found[limit]!.position) break;
      found.push(...this.#findByDay(experiment, day, after, limit + 1));
      found = found.sort(byPosition).slice(0, limit + 1);
    }
    return found;
  }

  #findByDay(experiment: number, day: number, after: number, count: number): StoredSession[] {
    const found: StoredSession[] = [];
    for (const subs of this.#selectCohortPieces.iterate(experiment, day, after)) {
      for (let at = 0; at < subs.length; at += subIdByteLength) {
        const session = this.#sessions.findSession(subs.subarray(at, at + subIdByteLength))!;
        if (session.position <= after) continue;
        found.push(session);
        if (found.length === count) return found;
      }
    }
    return found;
  }

  #toRow(session: StoredSession): SessionRow {
    const { sub, experiment, position, device, views, clicks, lastEventMs } = session;
    const lenders = new LenderAccumulator();
    const { attributedMicros, confirmedMicros } = this.#sessions.sumRevenue(session, lenders);
    return {
      // A copy of its own: the bytes may be a view of a whole list, which would be handed over with it.
      sub: Uint8Array.from(sub),
      referrerTag: this.#sessions.referrerTagOf(experiment),
      device,
      metadata: this.#selectMetadata.get(position) ?? null,
      views,
      clicks,
      attributedMicros,
      confirmedMicros,
      lastEventMs,
      lenders: lenders.result(this.#sessions.lenderNameOf),
    };
  }
}

function byPosition(a: StoredSession, b: StoredSession): number {
  return a.position - b.position;
}
