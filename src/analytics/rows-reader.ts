import type { Database, Statement } from 'better-sqlite3';
import { subIdByteLength } from '../ids/sub-id.ts';
import type { SessionRow, SessionRowsPage, SessionRowsQuery } from './analytics.ts';
import { prepareArrayQuery, prepareSingleValueQuery } from './analytics-database.ts';
import { isInDayRange, LenderRevenueTotals, type SessionReader, type StoredSession } from './session-reader.ts';

/** Day with sessions after the ledger position `afterPosition`, and the `first_position` of the day's first `cohort_piece` row to read. */
type DayHead = [day: number, firstPosition: number];

/**
 * Reads pages of sessions (docs/contract.md#rows) in ledger order from the store. Reading a later page takes no longer than reading the
 * first page, because the reader skips the database rows of earlier pages.
 */
export class SessionRowsReader {
  readonly #sessions: SessionReader;
  readonly #selectDayHeads: Statement<[{ experiment: number; fromDay: number; toDay: number; after: number }], DayHead>;
  readonly #selectCohortPieces: Statement<[number, number, number], Buffer>;
  readonly #selectMetadata: Statement<[number], string>;

  constructor(database: Database, sessions: SessionReader) {
    this.#sessions = sessions;
    this.#selectDayHeads = prepareArrayQuery(
      database,
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
    );
    this.#selectCohortPieces = prepareSingleValueQuery(
      database,
      `SELECT subs FROM cohort_piece WHERE experiment = ? AND day = ? AND last_position > ? ORDER BY last_position`,
    );
    this.#selectMetadata = prepareSingleValueQuery(database, 'SELECT json FROM session_metadata WHERE session = ?');
  }

  listSessions(query: SessionRowsQuery): SessionRowsPage {
    const sessions =
      query.subs === null ? this.#findSessionsByReferrerTag(query) : this.#findSessionsBySubIds(query, query.subs);
    const page = sessions.slice(0, query.limit);
    return {
      rows: page.map((session) => this.#toSessionRow(session)),
      ...this.#sessions.getCoverage(query),
      nextAfterPosition: sessions.length > query.limit ? page.at(-1)!.position : null,
    };
  }

  #findSessionsBySubIds(query: SessionRowsQuery, subs: readonly Uint8Array[]): StoredSession[] {
    const found: StoredSession[] = [];
    for (const session of this.#sessions.findListedSessions(query, subs)) {
      if (isInDayRange(session.day, query) && session.position > query.afterPosition) found.push(session);
    }
    return found.sort(byPosition);
  }

  /**
   * Finds the first `limit + 1` sessions of the query; `limit + 1` sessions mean that there is a next page. Usually reads sessions of only
   * one or two days, because the ledger is nearly sorted by day.
   */
  #findSessionsByReferrerTag(query: SessionRowsQuery): StoredSession[] {
    const { toDay, afterPosition: after, limit } = query;
    const fromDay = Math.max(query.fromDay, this.#sessions.firstRetainedDay);
    const experiment = this.#sessions.findExperimentNumber(query);
    if (experiment === undefined) return [];
    let found: StoredSession[] = [];
    for (const [day, firstPosition] of this.#selectDayHeads.all({ experiment, fromDay, toDay, after })) {
      if (found.length > limit && firstPosition > found[limit]!.position) break;
      found.push(...this.#findSessionsOfDay(experiment, day, after, limit + 1));
      found = found.sort(byPosition).slice(0, limit + 1);
    }
    return found;
  }

  #findSessionsOfDay(experiment: number, day: number, after: number, count: number): StoredSession[] {
    const found: StoredSession[] = [];
    for (const subs of this.#selectCohortPieces.iterate(experiment, day, after)) {
      for (let start = 0; start < subs.length; start += subIdByteLength) {
        const session = this.#sessions.findSession(subs.subarray(start, start + subIdByteLength))!;
        if (session.position <= after) continue;
        found.push(session);
        if (found.length === count) return found;
      }
    }
    return found;
  }

  #toSessionRow(session: StoredSession): SessionRow {
    const { sub, experiment, position, device, views, clicks, lastEventMs } = session;
    const lenders = new LenderRevenueTotals();
    const { attributedMicros, confirmedMicros } = this.#sessions.sumSessionRevenue(session, lenders);
    return {
      // The sub_id is copied, because `postMessage` would clone the whole buffer that contains the sub_id.
      sub: Uint8Array.from(sub),
      referrerTag: this.#sessions.referrerTagOf(experiment),
      device,
      metadata: this.#selectMetadata.get(position) ?? null,
      views,
      clicks,
      attributedMicros,
      confirmedMicros,
      lastEventMs,
      lenders: lenders.toSortedLenderMetrics(this.#sessions.lenderNameOf),
    };
  }
}

function byPosition(a: StoredSession, b: StoredSession): number {
  return a.position - b.position;
}
