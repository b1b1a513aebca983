import type { SessionRow, SessionRowsPage, SessionRowsQuery } from './analytics.ts';
import { isInDayRange, LenderRevenueTotals, SessionReader, type StoredSession, splitSubs } from './session-reader.ts';
import type { SqlDatabase } from './sql-database.ts';

/** Day with sessions that follow a ledger position, and the position of the day's first session, or one before it, in the order of the query. */
type DayHead = [day: number, position: number];

const daysSql = 'SELECT DISTINCT day FROM day_counter WHERE tag_number = ? AND day BETWEEN ? AND ?';

/** Selects the days with sessions after a position, the earliest first. */
const selectNextDaysSql = `
  WITH days AS (${daysSql}),
    heads AS (
      SELECT day, (
        SELECT first_position FROM cohort_piece WHERE tag_number = ? AND day = days.day AND last_position > ?
        ORDER BY last_position LIMIT 1
      ) AS head FROM days
    )
  SELECT day, head FROM heads WHERE head IS NOT NULL ORDER BY head`;

/**
 * Selects the days with sessions before a position, the latest first. The head is this position if a `cohort_piece` row has sessions on both
 * sides of it, and otherwise the last position of the row before it. So SQLite reads at most two rows of each day.
 */
const selectEarlierDaysSql = `
  WITH days AS (${daysSql}),
    pieces AS (
      SELECT day,
        (
          SELECT first_position FROM cohort_piece WHERE tag_number = ? AND day = days.day AND last_position >= ?
          ORDER BY last_position LIMIT 1
        ) AS first_position_around,
        (
          SELECT max(last_position) FROM cohort_piece WHERE tag_number = ? AND day = days.day AND last_position < ?
        ) AS last_position_before
      FROM days
    ),
    heads AS (
      SELECT day, CASE WHEN first_position_around < ? THEN ? ELSE last_position_before END AS head FROM pieces
    )
  SELECT day, head FROM heads WHERE head IS NOT NULL ORDER BY head DESC`;

const selectNextPiecesSql =
  'SELECT subs FROM cohort_piece WHERE tag_number = ? AND day = ? AND last_position > ? ORDER BY last_position';

/** The first row can contain sessions on both sides of the position. */
const selectEarlierPiecesSql = `
  SELECT subs FROM cohort_piece WHERE tag_number = ? AND day = ? AND last_position <= coalesce(
    (SELECT min(last_position) FROM cohort_piece WHERE tag_number = ? AND day = ? AND last_position >= ?), ?
  ) ORDER BY last_position DESC`;

/**
 * Reads a page of sessions (docs/contract.md#rows) from the store. Reading a later page takes no longer than reading the first page, because
 * the database rows of earlier pages are skipped.
 */
export function readSessionRows(database: SqlDatabase, query: SessionRowsQuery): SessionRowsPage {
  const reader = new SessionReader(database);
  const sessions =
    query.subs === null
      ? findSessionsByReferrerTag(reader, query)
      : [...reader.findListedSessions(query, query.subs)]
          .filter((session) => isInDayRange(session.day, query) && isOnLaterPage(query, session))
          .sort(comparePositions(query));
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
  const tagNumber = reader.findTagNumber(query);
  if (tagNumber === null) return [];
  let found: StoredSession[] = [];
  const compare = comparePositions(query);
  for (const [day, position] of selectDays(reader, query, tagNumber)) {
    if (found.length > query.limit && compare({ position }, found[query.limit]!) > 0) break;
    found.push(...findSessionsOfDay(reader, query, tagNumber, day));
    found = found.sort(compare).slice(0, query.limit + 1);
  }
  return found;
}

function selectDays(reader: SessionReader, query: SessionRowsQuery, tag: number): DayHead[] {
  const days = [tag, Math.max(query.fromDay, reader.firstRetainedDay), query.toDay];
  if (query.order === 'oldest') {
    return reader.database.rows<DayHead>(selectNextDaysSql, [...days, tag, query.afterPosition]);
  }
  const before = beforePosition(query);
  return reader.database.rows<DayHead>(selectEarlierDaysSql, [...days, tag, before, tag, before, before, before]);
}

function findSessionsOfDay(reader: SessionReader, query: SessionRowsQuery, tag: number, day: number): StoredSession[] {
  const found: StoredSession[] = [];
  for (const sub of iterateSubs(reader, query, tag, day)) {
    const session = reader.findSession(sub)!;
    if (!isOnLaterPage(query, session)) continue;
    found.push(session);
    if (found.length > query.limit) break;
  }
  return found;
}

/** Yields the sub_ids of a day in the order of the query. The first ones can be of earlier pages. */
function* iterateSubs(reader: SessionReader, query: SessionRowsQuery, tag: number, day: number) {
  const { order, afterPosition } = query;
  const before = beforePosition(query);
  const pieces =
    order === 'oldest'
      ? reader.database.iterateRows<[subs: Buffer]>(selectNextPiecesSql, [tag, day, afterPosition])
      : reader.database.iterateRows<[subs: Buffer]>(selectEarlierPiecesSql, [tag, day, tag, day, before, before]);
  for (const [bytes] of pieces) {
    const subs = [...splitSubs([bytes])];
    yield* order === 'oldest' ? subs : subs.reverse();
  }
}

/** Position before which the sessions of a page with the newest first are. */
function beforePosition({ afterPosition }: SessionRowsQuery): number {
  return afterPosition === 0 ? Number.MAX_SAFE_INTEGER : afterPosition;
}

/** Whether a session follows those of the earlier pages. */
function isOnLaterPage(query: SessionRowsQuery, { position }: Pick<StoredSession, 'position'>): boolean {
  return query.order === 'oldest' ? position > query.afterPosition : position < beforePosition(query);
}

function comparePositions({ order }: SessionRowsQuery) {
  const sign = order === 'oldest' ? 1 : -1;
  return (one: Pick<StoredSession, 'position'>, other: Pick<StoredSession, 'position'>): number =>
    sign * (one.position - other.position);
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
