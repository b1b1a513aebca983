import { bounds } from '../bounds.ts';
import { msPerDay } from '../domain/calendar.ts';
import type { AnalyticsTenant, CohortDays, TagMetrics, TagsPage, TagsQuery } from './analytics.ts';
import type { SqlDatabase } from './sql-database.ts';

/** A referrer tag with sessions. Tags are numbered in the order in which their first sessions were created. */
export type NumberedTag = readonly [number: number, account: number, vertical: number, test: 0 | 1, tag: string];

type RecentDay = NonNullable<TagMetrics['recentDays']>[number];

export type TagCount = readonly [account: number, vertical: number, test: 0 | 1, tags: number];

const selectFiguresSql = `
  SELECT min(ifnull(first_session_ms, day * ${msPerDay})) AS firstSessionMs,
    max(ifnull(last_session_ms, day * ${msPerDay})) AS lastSessionMs,
    sum(sessions) AS sessions, sum(views) AS views, sum(clicks) AS clicks,
    total(attributed_micros) AS attributedMicros, total(confirmed_micros) AS confirmedMicros
  FROM day_counter WHERE tag_number = ?`;

const selectRecentDaysSql = `
  SELECT day, sum(sessions) AS sessions, sum(views) AS views, sum(clicks) AS clicks,
    total(attributed_micros) AS attributedMicros, total(confirmed_micros) AS confirmedMicros
  FROM day_counter WHERE tag_number = ? AND day BETWEEN ? AND ? GROUP BY day`;

/** Reads a page of tags (docs/contract.md#tags) from the daily counters, so sessions whose data was deleted also count. */
export function readTags(database: SqlDatabase, query: TagsQuery): TagsPage {
  const { account, vertical, mode, afterTag, limit, recent } = query;
  // The unique index of the table `referrer_tag` contains the tags of a tenant in alphabetical order.
  const found = database.rows<[number: number, tag: string]>(
    `SELECT number, tag FROM referrer_tag WHERE account = ? AND vertical = ? AND test = ? AND tag > ?
        AND EXISTS (SELECT 1 FROM day_counter WHERE tag_number = number AND day BETWEEN ? AND ?)
      ORDER BY tag LIMIT ?`,
    [
      account,
      vertical,
      mode === 'test' ? 1 : 0,
      afterTag,
      recent?.fromDay ?? 0,
      recent?.toDay ?? Number.MAX_SAFE_INTEGER,
      limit + 1,
    ],
  );
  const page = found.slice(0, limit);
  return {
    tags: page.map(([number, tag]) => ({
      tag,
      ...database.object<Omit<TagMetrics, 'tag' | 'recentDays'>>(selectFiguresSql, [number])!,
      ...(recent === undefined ? {} : { recentDays: readRecentDays(database, number, recent) }),
    })),
    nextAfterTag: found.length > limit ? page.at(-1)![1] : null,
  };
}

/** Returns the figures of all days of a period, also of days without sessions. */
function readRecentDays(database: SqlDatabase, tag: number, { fromDay, toDay }: CohortDays) {
  const found = database.objects<RecentDay>(selectRecentDaysSql, [tag, fromDay, toDay]);
  const byDay = new Map(found.map((figures) => [figures.day, figures]));
  return Array.from({ length: toDay - fromDay + 1 }, (_, index): RecentDay => {
    const day = fromDay + index;
    return byDay.get(day) ?? { day, sessions: 0, views: 0, clicks: 0, attributedMicros: 0, confirmedMicros: 0 };
  });
}

/** Returns the number of a tenant's referrer tag; null if the tag has no sessions. */
export function findTagNumber(
  database: SqlDatabase,
  { account, vertical, mode }: AnalyticsTenant,
  tag: string,
): number | null {
  return database.value<number>(
    'SELECT number FROM referrer_tag WHERE account = ? AND vertical = ? AND test = ? AND tag = ?',
    [account, vertical, mode === 'test' ? 1 : 0, tag],
  );
}

/** Returns the next tags of all tenants, at most `bounds.numberedTagsPerPage` tags; an empty list after the last tag. */
export function readNumberedTags(database: SqlDatabase, afterNumber: number): readonly NumberedTag[] {
  return database.rows(
    'SELECT number, account, vertical, test, tag FROM referrer_tag WHERE number > ? ORDER BY number LIMIT ?',
    [afterNumber, bounds.numberedTagsPerPage],
  );
}

/** Returns the number of referrer tags per account, vertical and mode, sorted by this number in descending order. */
export function countTags(database: SqlDatabase): TagCount[] {
  return database.rows(
    `SELECT account, vertical, test, count(*) AS tags FROM referrer_tag
      GROUP BY account, vertical, test ORDER BY tags DESC, account, vertical, test`,
  );
}
