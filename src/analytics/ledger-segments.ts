import type { Database, Statement } from 'better-sqlite3';
import type { LedgerFold } from './ledger-fold.ts';
import { RowWriter } from './row-writer.ts';

/**
 * Which segments of the ledger tell of new sessions, and of which cohort day the last of them are. A session's first record
 * is its creation: so ahead of the first segment with a creation on some day or later, nothing tells of such a session.
 */
export class LedgerSegments {
  readonly #rows: RowWriter;
  readonly #firstWith: Statement<[number], number | null>;
  readonly #forget: Statement<[number]>;

  constructor(database: Database) {
    this.#rows = new RowWriter(
      database,
      'ledger_segment',
      ['first', 'last_day'],
      'ON CONFLICT DO UPDATE SET last_day = max(last_day, excluded.last_day)',
    );
    this.#firstWith = database
      .prepare<[number], number | null>('SELECT min(first) FROM ledger_segment WHERE last_day >= ?')
      .pluck();
    this.#forget = database.prepare('DELETE FROM ledger_segment WHERE last_day < ?');
  }

  write({ segments }: LedgerFold): void {
    this.#rows.write(segments);
  }

  /** First sequence of the oldest segment that tells of a session created on a day or later; null when none does so far. */
  firstWith(day: number): number | null {
    return this.#firstWith.get(day) ?? null;
  }

  /** Forgets those that nobody will ask for once no session from before a day is kept. */
  forgetBefore(day: number): void {
    this.#forget.run(day);
  }
}
