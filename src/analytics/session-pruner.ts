import type { Database, Statement } from 'better-sqlite3';
import { bounds } from '../bounds.ts';
import type { RetainedSessions } from './kept-sessions.ts';

/** Removes the rows of sessions that are not kept, little by little, so that nobody waits for it. */
export class SessionPruner {
  readonly #retainedSessions: RetainedSessions;
  readonly #selectPrunable: Statement<[Buffer, number], [sub: Buffer, position: number, clicks: number]>;
  readonly #deleteSessions: Statement<[Buffer]>;
  readonly #deleteCohortPieces: Statement<[number, number]>;
  readonly #deleteMetadata: Statement<[number]>;
  readonly #deleteClicks: Statement<[number]>;
  readonly #deletePayouts: Statement<[number]>;
  readonly #pruneBatch: () => boolean;
  /** Up to this day none is left. What an earlier process has left to do shows at the first look. */
  #prunedUntilDay = 0;

  constructor(database: Database, retainedSessions: RetainedSessions) {
    this.#retainedSessions = retainedSessions;
    this.#selectPrunable = database
      .prepare<[Buffer, number], [Buffer, number, number]>(
        'SELECT sub, position, clicks FROM session WHERE sub < ? ORDER BY sub LIMIT ?',
      )
      .raw();
    this.#deleteSessions = database.prepare('DELETE FROM session WHERE sub <= ?');
    this.#deleteCohortPieces = database.prepare(`
      DELETE FROM cohort_piece WHERE (day, experiment, last_position) IN
        (SELECT day, experiment, last_position FROM cohort_piece WHERE day < ? LIMIT ?)`);
    this.#deleteMetadata = database.prepare('DELETE FROM session_metadata WHERE session = ?');
    this.#deleteClicks = database.prepare('DELETE FROM click WHERE session = ?');
    this.#deletePayouts = database.prepare('DELETE FROM payout WHERE session = ?');
    this.#pruneBatch = database.transaction(() => this.#deleteBatch()).immediate;
  }

  /** Whether rows may be left. */
  get hasRowsToPrune(): boolean {
    return this.#prunedUntilDay < this.#retainedSessions.fromDay;
  }

  /** Removes some rows, in a transaction of its own. Killed at any moment, it goes on another time. */
  pruneRows(): void {
    if (!this.#pruneBatch()) this.#prunedUntilDay = this.#retainedSessions.fromDay;
  }

  /** Whether there may be more. */
  #deleteBatch(): boolean {
    const most = bounds.sessionsPrunedPerTransaction;
    const sessions = this.#selectPrunable.all(Buffer.from(this.#retainedSessions.fromKey, 'latin1'), most);
    for (const [, position, clicks] of sessions) {
      this.#deleteMetadata.run(position);
      if (clicks === 0) continue;
      this.#deleteClicks.run(position);
      this.#deletePayouts.run(position);
    }
    const last = sessions.at(-1);
    if (last !== undefined) this.#deleteSessions.run(last[0]);
    const pieces = this.#deleteCohortPieces.run(this.#retainedSessions.fromDay, most).changes;
    return sessions.length === most || pieces === most;
  }
}
