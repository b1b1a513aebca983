import {
  frozenRevenue,
  type SessionActivity,
  type SessionFigures,
  sessionFigures,
} from '../../experiments/session-figures.ts';
import type { ExperimentRecord } from '../../ledger/ledger-record.ts';
import type { SessionState, SessionUnit } from '../projection-state.ts';
import { RowWriter, type SqlDatabase } from '../sql-database.ts';
import { type CountedArm, type CountedExperiment, CountedExperiments } from './counted-experiments.ts';
import { ExperimentArchive } from './experiment-archive.ts';
import { ExperimentSumChanges } from './experiment-sum-changes.ts';
import { ExperimentVisitors } from './experiment-visitors.ts';

interface ChangedSession {
  session: SessionState;
  /** Arms in which the session counts. */
  readonly arms: readonly CountedArm[];
  /** Numbers of the groups in which the session counts, by index of `arms`. */
  readonly groups: readonly (readonly number[])[];
  /** Visitor; null without one, or if no experiment needs it. */
  readonly unit: SessionUnit | null;
  /** Figures before the change, by index of `arms`; null for a session that is not counted yet. */
  readonly before: readonly SessionFigures[] | null;
}

/**
 * Maintains the sums of experiments in the store. Before a session changes, its figures are noted; at the end of the batch, the sums change
 * by the difference between its present figures and those. So no figure depends on the order of records, or on the kind of a change.
 */
export class ExperimentSums {
  readonly #database: SqlDatabase;
  readonly #readActivity: (session: SessionState) => SessionActivity;
  readonly #readMetadata: (session: SessionState) => string | null;
  readonly experiments: CountedExperiments;
  readonly archive: ExperimentArchive;
  readonly #sums: ExperimentSumChanges;
  readonly #visitors: ExperimentVisitors;
  readonly #unitWriter: RowWriter;
  readonly #revenueWriter: RowWriter;
  /** Sessions that the batch has changed, by position. */
  readonly #changed = new Map<number, ChangedSession>();

  constructor(
    database: SqlDatabase,
    readActivity: (session: SessionState) => SessionActivity,
    readMetadata: (session: SessionState) => string | null,
  ) {
    this.#database = database;
    this.#readActivity = readActivity;
    this.#readMetadata = readMetadata;
    this.experiments = new CountedExperiments(database);
    this.#sums = new ExperimentSumChanges(database);
    this.#visitors = new ExperimentVisitors(database, this.#sums);
    this.archive = new ExperimentArchive(database, this.experiments, this.#sums, this.#visitors);
    this.#unitWriter = new RowWriter(database, 'session_unit', ['session', 'unit', 'misassigned']);
    this.#revenueWriter = new RowWriter(
      database,
      'experiment_revenue',
      ['experiment', 'unit', 'day', 'arm', 'revenue_micros', 'sessions'],
      'ON CONFLICT DO UPDATE SET revenue_micros = excluded.revenue_micros',
    );
  }

  /** Must be called for each new session. `unit` is null for a session without visitor, and `metadata` is JSON text. */
  addSession(session: SessionState, unit: SessionUnit | null, metadata: string | null): void {
    const copy = unit && { hash: Buffer.from(unit.hash), isMisassigned: unit.isMisassigned };
    if (copy !== null) this.#unitWriter.add([session.position, copy.hash, copy.isMisassigned ? 1 : 0]);
    const arms = this.experiments.findArms(session);
    if (arms.length === 0) return;
    const groups = arms.map(({ experiment }) => this.#findGroups(experiment, session, copy, () => metadata));
    this.#changed.set(session.position, { session, arms, groups, unit: copy, before: null });
  }

  /** Must be called before each change of a session. */
  beforeChange(session: SessionState): void {
    const arms = this.experiments.findArms(session);
    if (arms.length === 0) return;
    const changed = this.#changed.get(session.position);
    if (changed !== undefined) {
      // A session that an earlier record did not change may have been read again.
      changed.session = session;
      return;
    }
    const activity = this.#readActivity(session);
    const unit = this.#readUnit(session, arms);
    const before = arms.map(({ experiment }) => figuresOf(session, unit, activity, experiment));
    // The groups of a visitor are stored with the visitor.
    const groups = arms.map(({ experiment }) =>
      experiment.definition.unit === 'visitor' ? [] : this.#findGroups(experiment, session, null),
    );
    this.#changed.set(session.position, { session, arms, groups, unit, before });
  }

  /** Counts a session that was created before its experiment. */
  countEarlierSession(session: SessionState, arm: CountedArm): void {
    const unit = this.#readUnit(session, [arm]);
    const groups = [this.#findGroups(arm.experiment, session, unit)];
    this.#changed.set(session.position, { session, arms: [arm], groups, unit, before: null });
  }

  /** Returns no groups if the session has no unit. */
  #findGroups(
    experiment: CountedExperiment,
    session: SessionState,
    unit: SessionUnit | null,
    readMetadata = () => this.#readMetadata(session),
  ): readonly number[] {
    if (experiment.definition.unit === 'visitor' && unit === null) return [];
    const isFilling = this.experiments.isFilling(experiment.number);
    return this.experiments.groups.findGroups(experiment, session, isFilling, readMetadata);
  }

  /** Applies a record of an experiment. Returns false if the record is invalid, or changes a closed experiment. */
  applyRecord(position: number, record: ExperimentRecord): boolean {
    // The sessions so far are counted by the definitions so far.
    this.writeChanges();
    return this.experiments.applyRecord(position, record);
  }

  /** Writes the changes of the batch to the tables. */
  writeChanges(): void {
    this.#unitWriter.flush();
    if (this.#changed.size === 0) return;
    for (const { session, arms, groups, unit, before } of this.#changed.values()) {
      const activity = this.#readActivity(session);
      for (const [index, arm] of arms.entries()) {
        const after = figuresOf(session, unit, activity, arm.experiment);
        const counted = { ...arm, groups: groups[index]! };
        this.#changeFigures(session, counted, unit, activity.day, before?.[index] ?? null, after);
      }
    }
    this.#changed.clear();
    this.#revenueWriter.flush();
    this.#visitors.write();
    this.#sums.write();
  }

  #changeFigures(
    { position }: SessionState,
    {
      experiment: { number: experiment, definition },
      arm,
      groups,
    }: CountedArm & { readonly groups: readonly number[] },
    unit: SessionUnit | null,
    day: number,
    before: SessionFigures | null,
    after: SessionFigures,
  ): void {
    if (definition.unit === 'visitor') {
      if (unit !== null) {
        const hash = unit.hash;
        this.#visitors.changeSession({ experiment, unit: hash, arm, groups, position, day, before, after });
      } else if (before === null) this.#sums.addSessionsWithoutUnit({ experiment, day, arm }, 1);
      return;
    }
    const arms = 1 << arm;
    if (before !== null) this.#sums.addUnit(experiment, { arm, groups }, [{ day, arms, figures: before }], -1);
    this.#sums.addUnit(experiment, { arm, groups }, [{ day, arms, figures: after }], 1);
    const revenueMicros = frozenRevenue(after);
    if (revenueMicros > 0) this.#revenueWriter.add([experiment, position, day, arm, revenueMicros, 1]);
    else if (before !== null && frozenRevenue(before) > 0) {
      this.#database.run('DELETE FROM experiment_revenue WHERE experiment = ? AND unit = ?', [experiment, position]);
    }
  }

  #readUnit({ position }: SessionState, arms: readonly CountedArm[]): SessionUnit | null {
    if (arms.every(({ experiment }) => experiment.definition.unit === 'session')) return null;
    const row = this.#database.row<[hash: Buffer, misassigned: 0 | 1]>(
      'SELECT unit, misassigned FROM session_unit WHERE session = ?',
      [position],
    );
    return row && { hash: row[0], isMisassigned: row[1] === 1 };
  }
}

function figuresOf(
  { position }: SessionState,
  unit: SessionUnit | null,
  activity: SessionActivity,
  { definition, countedPosition }: CountedExperiment,
): SessionFigures {
  const figures = sessionFigures(activity, definition);
  // The mark on a session from before the definition, or from before an arm got the tag, belongs to another experiment.
  const isChecked = definition.assignment === 'hash' && position > countedPosition;
  if (isChecked && unit?.isMisassigned) figures.misassignedSessions = 1;
  return figures;
}
