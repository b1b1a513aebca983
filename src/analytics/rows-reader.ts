import { subIdByteLength } from '../ids/sub-id.ts';
import type { SessionRow, SessionRowsPage, SessionRowsQuery } from './analytics.ts';
import { isInDayRange, LenderRevenueTotals, SessionReader, type StoredSession } from './session-reader.ts';
import type { SqlDatabase } from './sql-database.ts';

/** Day with sessions after the ledger position `afterPosition`, and the `first_position` of the day's first `cohort_piece` row to read. */
type DayHead = [day: number, firstPosition: number];

const selectDayHeadsSql = `
  WITH days AS (SELECT DISTINCT day FROM day_counter WHERE tag_number = ? AND day BETWEEN ? AND ?),
    heads AS (
      SELECT day, (
        SELECT first_position FROM cohort_piece WHERE tag_number = ? AND day = days.day AND last_position > ?
        ORDER BY last_position LIMIT 1
      ) AS head FROM days
    )
  SELECT day, head FROM heads WHERE head IS NOT NULL ORDER BY head`;

/**
 * Reads a page of sessions (docs/contract.md#rows) in ledger order from the store. Reading a later page takes no longer than reading the
 * first page, because the database rows of earlier pages are skipped.
 */
export function readSessionRows(database: SqlDatabase, query: SessionRowsQuery): SessionRowsPage {
  const reader = new SessionReader(database);
  const sessions =
    query.subs === null
      ? findSessionsByReferrerTag(reader, query)
      : [...reader.findListedSessions(query, query.subs)]
          .filter(({ day, position }) => isInDayRange(day, query) && position > query.afterPosition)
          .sort(byPosition);
  const page = sessions.slice(0, query.limit);
  return {
    rows: page.map((session) => toSessionRow(reader, session)),
    ...reader.getCoverage(query),
    nextAfterPosition: sessions.length > query.limit ? page.at(-1)!.position : null,
  };
}

/**
 * Finds the first `limit + 1` sessions of the query; `limit + 1` sessions mean that there is a next page. Usually reads sessions of only
 * one or two days, because the ledger is nearly sorted by day.
 */
function findSessionsByReferrerTag(reader: SessionReader, query: SessionRowsQuery): StoredSession[] {
  const { toDay, afterPosition: after, limit } = query;
  const fromDay = Math.max(query.fromDay, reader.firstRetainedDay);
  const tagNumber = reader.findTagNumber(query);
  if (tagNumber === null) return [];
  let found: StoredSession[] = [];
  const heads = reader.database.rows<DayHead>(selectDayHeadsSql, [tagNumber, fromDay, toDay, tagNumber, after]);
  for (const [day, firstPosition] of heads) {
    if (found.length > limit && firstPosition > found[limit]!.position) break;
    found.push(...findSessionsOfDay(reader, query, tagNumber, day));
    found = found.sort(byPosition).slice(0, limit + 1);
  }
  return found;
}

function findSessionsOfDay(
  reader: SessionReader,
  { afterPosition, limit }: SessionRowsQuery,
  tagNumber: number,
  day: number,
): StoredSession[] {
  const found: StoredSession[] = [];
  const pieces = reader.database.iterateRows<[subs: Buffer]>(
    'SELECT subs FROM cohort_piece WHERE tag_number = ? AND day = ? AND last_position > ? ORDER BY last_position',
    [tagNumber, day, afterPosition],
  );
  for (const [subs] of pieces) {
    for (let start = 0; start < subs.length; start += subIdByteLength) {
      const session = reader.findSession(subs.subarray(start, start + subIdByteLength))!;
      if (session.position <= afterPosition) continue;
      found.push(session);
      if (found.length > limit) return found;
    }
  }
  return found;
}

function toSessionRow(reader: SessionReader, session: StoredSession): SessionRow {
  const { sub, tagNumber, position, device, views, clicks, lastEventMs } = session;
  const lenders = new LenderRevenueTotals();
  const { attributedMicros, confirmedMicros } = reader.sumSessionRevenue(session, lenders);
  return {
    // The sub_id is copied, because `postMessage` would clone the whole buffer that contains the sub_id.
    sub: Uint8Array.from(sub),
    referrerTag: reader.database.value<string>('SELECT tag FROM referrer_tag WHERE number = ?', [tagNumber])!,
    device,
    metadata: reader.database.value<string>('SELECT json FROM session_metadata WHERE session = ?', [position]),
    views,
    clicks,
    attributedMicros,
    confirmedMicros,
    lastEventMs,
    lenders: lenders.toSortedLenderMetrics(reader.lenderNameOf),
  };
}

function byPosition(a: StoredSession, b: StoredSession): number {
  return a.position - b.position;
}
