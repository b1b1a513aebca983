import type { Database, Statement } from 'better-sqlite3';
import { msPerDay } from '../domain/calendar.ts';
import type { TagMetrics, TagsPage, TagsQuery } from './analytics.ts';
import { prepareArrayQuery } from './analytics-database.ts';

/** Lists referrer tags (docs/contract.md#tags). Reads the daily counters, so sessions whose data was deleted also count. */
export class TagsReader {
  readonly #selectTags: Statement<[number, number, number, string, number], [number: number, tag: string]>;
  readonly #selectFigures: Statement<[number], Omit<TagMetrics, 'tag'>>;

  constructor(database: Database) {
    // The unique index of the table `experiment` contains the tags of a tenant in alphabetical order.
    this.#selectTags = prepareArrayQuery(
      database,
      `SELECT number, tag FROM experiment WHERE account = ? AND vertical = ? AND test = ? AND tag > ?
          AND EXISTS (SELECT 1 FROM day_counter WHERE experiment = number)
        ORDER BY tag LIMIT ?`,
    );
    this.#selectFigures = database.prepare(`
      SELECT min(ifnull(first_session_ms, day * ${msPerDay})) AS firstSessionMs,
        max(ifnull(last_session_ms, day * ${msPerDay})) AS lastSessionMs,
        sum(sessions) AS sessions, sum(views) AS views, sum(clicks) AS clicks,
        sum(attributed_micros) AS attributedMicros, sum(confirmed_micros) AS confirmedMicros
      FROM day_counter WHERE experiment = ?`);
  }

  listTags({ account, vertical, mode, afterTag, limit }: TagsQuery): TagsPage {
    const found = this.#selectTags.all(account, vertical, mode === 'test' ? 1 : 0, afterTag, limit + 1);
    const page = found.slice(0, limit);
    return {
      tags: page.map(([number, tag]) => ({ tag, ...this.#selectFigures.get(number)! })),
      nextAfterTag: found.length > limit ? page.at(-1)![1] : null,
    };
  }
}
