import { bounds } from '../../bounds.ts';
import { subIdByteLength } from '../../ids/sub-id.ts';
import { toSubIdSortKey } from '../projection-state.ts';
import type { SqlDatabase } from '../sql-database.ts';
import type { SqliteProjectionState } from '../sqlite-projection-state.ts';
import {
  type CountedExperiment,
  type CountedExperiments,
  deletingCursor,
  endCursor,
  type FillCursor,
  isSessionOf,
  startCursor,
} from './counted-experiments.ts';

/** An arm of the experiment whose earlier sessions are being counted. */
interface FilledArm {
  readonly tagNumber: number;
  readonly arm: number;
}

/**
 * Counts the sessions that were created before their experiment, in the order of cohort day, tag and ledger position. The position of the
 * last counted session is committed together with the figures, so a crash never counts a session twice or not at all.
 */
export class ExperimentFill {
  readonly #database: SqlDatabase;
  readonly #state: SqliteProjectionState;

  constructor(database: SqlDatabase, state: SqliteProjectionState) {
    this.#database = database;
    this.#state = state;
  }

  get #experiments(): CountedExperiments {
    return this.#state.experimentSums.experiments;
  }

  get isRunning(): boolean {
    return this.#experiments.nextFill !== null;
  }

  /**
   * Counts a limited number of sessions of one experiment, in one short transaction, so that queries do not wait long.
   *
   * @param sessionsMax about the number of sessions; at least 2
   */
  countSlice(sessionsMax: number = bounds.sessionsFilledPerTransaction): void {
    const next = this.#experiments.nextFill;
    if (next === null) return;
    const [number, cursor] = next;
    this.#database.write(() => {
      if (cursor.day === deletingCursor.day) this.#deleteSums(number, sessionsMax);
      else {
        const experiment = this.#experiments.findExperiment(number);
        const nextCursor = this.#countSessions(experiment, cursor, sessionsMax);
        this.#state.experimentSums.writeChanges();
        const isComplete = nextCursor === null && !this.#mayHaveSurplusValues(experiment);
        this.#experiments.saveFill(number, isComplete ? null : (nextCursor ?? endCursor));
      }
    });
  }

  /** Removes a limited number of the surplus values of dimensions. Returns whether more may remain. */
  #mayHaveSurplusValues({ number, dimensions }: CountedExperiment): boolean {
    const { groups } = this.#experiments;
    return dimensions.some(({ name }) => groups.removeSurplus(number, name));
  }

  /** Deletes a limited number of the sums that an earlier definition left. When they are deleted, the sessions are counted. */
  #deleteSums(number: number, limit: number): void {
    const { changes } = this.#database.run(
      `DELETE FROM experiment_unit WHERE experiment = ? AND unit IN
        (SELECT unit FROM experiment_unit WHERE experiment = ? LIMIT ?)`,
      [number, number, limit],
    );
    const { changes: revenues } = this.#database.run(
      `DELETE FROM experiment_revenue WHERE experiment = ? AND unit IN
        (SELECT unit FROM experiment_revenue WHERE experiment = ? LIMIT ?)`,
      [number, number, limit],
    );
    if (changes + revenues > 0) return;
    this.#database.run('DELETE FROM experiment_day WHERE experiment = ?', [number]);
    this.#database.run('DELETE FROM experiment_age WHERE experiment = ?', [number]);
    this.#experiments.groups.removeAll(number);
    this.#experiments.saveFill(number, startCursor);
  }

  /** Counts sessions after the cursor, at most a fixed number. Returns the new cursor, or null if there are no more sessions. */
  #countSessions(experiment: CountedExperiment, cursor: FillCursor, sessionsMax: number): FillCursor | null {
    const arms = this.#readArms(experiment);
    const { startsOn, endsOn } = experiment.definition;
    const retainedFromDay = this.#database.value<number>('SELECT kept_from_day FROM retention')!;
    let budget = sessionsMax;
    let { day, tagNumber, position } = cursor;
    for (;;) {
      const nextDay = this.#database.value<number>('SELECT min(day) FROM cohort_piece WHERE day >= ?', [
        Math.max(day, startsOn, retainedFromDay),
      ]);
      if (nextDay === null || (endsOn !== null && nextDay > endsOn)) return null;
      if (nextDay > day) [day, tagNumber, position] = [nextDay, 0, 0];
      for (const filled of arms) {
        if (filled.tagNumber < tagNumber) continue;
        if (filled.tagNumber > tagNumber) [tagNumber, position] = [filled.tagNumber, 0];
        const piecesMax = Math.ceil(budget / bounds.cohortRowSessionsMax);
        const pieces = this.#database.rows<[lastPosition: number, subs: Buffer]>(
          `SELECT last_position, subs FROM cohort_piece WHERE day = ? AND tag_number = ? AND last_position > ?
            ORDER BY last_position LIMIT ?`,
          [day, tagNumber, position, piecesMax],
        );
        for (const [lastPosition, subs] of pieces) {
          this.#countPiece(experiment, filled.arm, subs);
          position = lastPosition;
          budget -= subs.length / subIdByteLength;
        }
        // The look-up takes time too, even of a day without sessions of the tag.
        budget--;
        if (budget <= 0 || pieces.length === piecesMax) return { day, tagNumber, position };
      }
      [day, tagNumber, position] = [day + 1, 0, 0];
    }
  }

  #countPiece(experiment: CountedExperiment, arm: number, subs: Buffer): void {
    for (let start = 0; start < subs.length; start += subIdByteLength) {
      const session = this.#state.findSession(toSubIdSortKey(subs.subarray(start, start + subIdByteLength)));
      if (session === null || !isSessionOf(experiment, session)) continue;
      this.#state.experimentSums.countEarlierSession(session, { experiment, arm });
    }
  }

  /** Returns the arms that have sessions, in the order of their tag numbers. */
  #readArms({ number, definition }: CountedExperiment): readonly FilledArm[] {
    const arms = definition.arms.flatMap(({ referrerTag }, arm) => {
      const tagNumber = this.#database.value<number>(
        `SELECT referrer_tag.number FROM referrer_tag JOIN experiment USING (account, vertical, test)
          WHERE experiment.number = ? AND tag = ?`,
        [number, referrerTag],
      );
      return tagNumber === null ? [] : [{ tagNumber, arm }];
    });
    return arms.sort((a, b) => a.tagNumber - b.tagNumber);
  }
}
