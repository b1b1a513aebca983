import type { Database, Statement } from 'better-sqlite3';
import type { LedgerProjection } from './ledger-fold.ts';
import { RowWriter } from './row-writer.ts';

/**
 * Which segments of the ledger tell of new sessions, and of which cohort day the last of them are. A session's first record
 * is its creation: so ahead of the first segment with a creation on some day or later, nothing tells of such a session.
 */
export class LedgerSegmentIndex {
  readonly #writer: RowWriter;
  readonly #selectFirstSince: Statement<[number], number | null>;
  readonly #deleteRowsBefore: Statement<[number]>;

  constructor(database: Database) {
    this.#writer = new RowWriter(
      database,
      'ledger_segment',
      ['first', 'last_day'],
      'ON CONFLICT DO UPDATE SET last_day = max(last_day, excluded.last_day)',
    );
    this.#selectFirstSince = database
      .prepare<[number], number | null>('SELECT min(first) FROM ledger_segment WHERE last_day >= ?')
      .pluck();
    this.#deleteRowsBefore = database.prepare('DELETE FROM ledger_segment WHERE last_day < ?');
  }

  writeBatch({ lastCohortDayBySegment }: LedgerProjection): void {
    this.#writer.writeAll(lastCohortDayBySegment);
  }

  /** First sequence of the oldest segment that tells of a session created on a day or later; null when none does so far. */
  firstSegmentSince(day: number): number | null {
    return this.#selectFirstSince.get(day) ?? null;
  }

  /** Forgets those that nobody will ask for once no session from before a day is kept. */
  deleteBefore(day: number): void {
    this.#deleteRowsBefore.run(day);
  }
}
