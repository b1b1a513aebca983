import type { Database, Statement } from 'better-sqlite3';
import { bounds } from '../bounds.ts';
import type { KeptSessions } from './kept-sessions.ts';

/** Removes the rows of sessions that are not kept, little by little, so that nobody waits for it. */
export class SessionPruner {
  readonly #kept: KeptSessions;
  readonly #prunable: Statement<[Buffer, number], [sub: Buffer, position: number, clicks: number]>;
  readonly #sessions: Statement<[Buffer]>;
  readonly #pieces: Statement<[number, number]>;
  readonly #metadata: Statement<[number]>;
  readonly #clicks: Statement<[number]>;
  readonly #payouts: Statement<[number]>;
  readonly #some: () => boolean;
  /** Up to this day none is left. What an earlier process has left to do shows at the first look. */
  #prunedUntil = 0;

  constructor(database: Database, kept: KeptSessions) {
    this.#kept = kept;
    this.#prunable = database
      .prepare<[Buffer, number], [Buffer, number, number]>(
        'SELECT sub, position, clicks FROM session WHERE sub < ? ORDER BY sub LIMIT ?',
      )
      .raw();
    this.#sessions = database.prepare('DELETE FROM session WHERE sub <= ?');
    this.#pieces = database.prepare(`
      DELETE FROM cohort_piece WHERE (day, experiment, last_position) IN
        (SELECT day, experiment, last_position FROM cohort_piece WHERE day < ? LIMIT ?)`);
    this.#metadata = database.prepare('DELETE FROM session_metadata WHERE session = ?');
    this.#clicks = database.prepare('DELETE FROM click WHERE session = ?');
    this.#payouts = database.prepare('DELETE FROM payout WHERE session = ?');
    this.#some = database.transaction(() => this.#removeSome()).immediate;
  }

  /** Whether rows may be left. */
  get mustPrune(): boolean {
    return this.#prunedUntil < this.#kept.fromDay;
  }

  /** Removes some rows, in a transaction of its own. Killed at any moment, it goes on another time. */
  prune(): void {
    if (!this.#some()) this.#prunedUntil = this.#kept.fromDay;
  }

  /** Whether there may be more. */
  #removeSome(): boolean {
    const most = bounds.sessionsPrunedAtOnce;
    const sessions = this.#prunable.all(Buffer.from(this.#kept.fromKey, 'latin1'), most);
    for (const [, position, clicks] of sessions) {
      this.#metadata.run(position);
      if (clicks === 0) continue;
      this.#clicks.run(position);
      this.#payouts.run(position);
    }
    const last = sessions.at(-1);
    if (last !== undefined) this.#sessions.run(last[0]);
    const pieces = this.#pieces.run(this.#kept.fromDay, most).changes;
    return sessions.length === most || pieces === most;
  }
}
