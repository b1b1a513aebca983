import type { Database, Statement } from 'better-sqlite3';
import { bounds } from '../bounds.ts';

/** A referrer tag that sessions were created under. Later experiments have greater numbers. */
export type ExperimentRow = readonly [number: number, account: number, vertical: number, test: 0 | 1, tag: string];

/** How many referrer tags an account has for one vertical and mode. */
export type TagCount = readonly [account: number, vertical: number, test: 0 | 1, tags: number];

/** Lists the experiments of the store. Experiments are never removed: their daily figures stay when the retention deletes their sessions. */
export class ExperimentsReader {
  readonly #selectPage: Statement<[number, number], ExperimentRow>;
  readonly #selectTagCounts: Statement<[], TagCount>;

  constructor(database: Database) {
    this.#selectPage = database
      .prepare<[number, number], ExperimentRow>(
        'SELECT number, account, vertical, test, tag FROM experiment WHERE number > ? ORDER BY number LIMIT ?',
      )
      .raw();
    this.#selectTagCounts = database
      .prepare<[], TagCount>(
        `SELECT account, vertical, test, count(*) AS tags FROM experiment
        GROUP BY account, vertical, test ORDER BY tags DESC, account, vertical, test`,
      )
      .raw();
  }

  /** The experiments whose numbers are greater than `after`, ascending, up to `bounds.experimentsAtOnce`. */
  listAfter(after: number): ExperimentRow[] {
    return this.#selectPage.all(after, bounds.experimentsPerPage);
  }

  /** The largest number of tags first. */
  countTags(): TagCount[] {
    return this.#selectTagCounts.all();
  }
}
