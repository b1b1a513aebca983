import { bounds } from '../../bounds.ts';
import { addFigures, frozenRevenue, noSessions, type SessionFigures } from '../../experiments/session-figures.ts';
import type { UnitDay } from '../../experiments/unit-sums.ts';
import { decodeVarints, encodeVarints, RowWriter, type SqlDatabase } from '../sql-database.ts';
import { ArchivedVisitors } from './archived-visitors.ts';
import type { ArchivedVisitor } from './experiment-archive-record.ts';
import type { ExperimentSumChanges } from './experiment-sum-changes.ts';
import { decodeUnitDays, encodeUnitDays } from './unit-days-encoding.ts';

interface Visitor {
  readonly experiment: number;
  readonly unit: Buffer;
  arm: number;
  /** Numbers of the groups, with the device class first. */
  groups: readonly number[];
  /** Lowest ledger position of the visitor's sessions; `arm` and `groups` are those of this session. */
  firstPosition: number;
  /** Days with sessions, in ascending order. */
  readonly days: UnitDay[];
  /** Whether the table `experiment_revenue` contains the visitor. */
  readonly hadRevenue: boolean;
}

/** Change of the figures of one session of a visitor. */
export interface VisitorSessionChange {
  readonly experiment: number;
  readonly unit: Uint8Array;
  /** Arm with the referrer tag of the session. */
  readonly arm: number;
  /** Numbers of the groups of the session. */
  readonly groups: readonly number[];
  readonly position: number;
  readonly day: number;
  /** Figures that are counted so far; null for a new session. */
  readonly before: SessionFigures | null;
  readonly after: SessionFigures;
}

type VisitorColumns = [
  arm: number,
  firstPosition: number,
  firstDay: number,
  days: Uint8Array,
  groups: Uint8Array | null,
];
const visitorColumnsSql = 'arm, first_position, first_day, days, groups';

/** Visitors of experiments: applies the changes of a batch to their sessions, and writes the visitors and the changes of the sums. */
export class ExperimentVisitors {
  readonly #database: SqlDatabase;
  readonly #sums: ExperimentSumChanges;
  readonly #changed = new Map<string, Visitor>();
  readonly #visitorWriter: RowWriter;
  readonly #revenueWriter: RowWriter;
  readonly archived: ArchivedVisitors;

  constructor(database: SqlDatabase, sums: ExperimentSumChanges) {
    this.#database = database;
    this.archived = new ArchivedVisitors(database);
    this.#sums = sums;
    this.#visitorWriter = new RowWriter(
      database,
      'experiment_unit',
      ['experiment', 'unit', 'arm', 'first_position', 'first_day', 'last_day', 'days', 'groups'],
      `ON CONFLICT DO UPDATE SET arm = excluded.arm, first_position = excluded.first_position, first_day = excluded.first_day,
        last_day = excluded.last_day, days = excluded.days, groups = excluded.groups`,
    );
    const revenueColumns = ['experiment', 'unit', 'day', 'arm', 'revenue_micros', 'sessions'];
    this.#revenueWriter = new RowWriter(database, 'experiment_revenue', revenueColumns);
  }

  changeSession({ experiment, unit, arm, groups, position, day, before, after }: VisitorSessionChange): void {
    const visitor = this.#findVisitor(experiment, unit);
    const unitDay = findOrInsertDay(visitor.days, day);
    if (before !== null) addFigures(unitDay.figures, before, -1);
    addFigures(unitDay.figures, after, 1);
    unitDay.arms |= 1 << arm;
    decideArm(visitor, { arm, groups }, position);
  }

  /** Adds archived days to a visitor, who must not have these days yet. `groups` are the numbers of the archived groups in this store. */
  restoreDays(
    experiment: number,
    [, [firstDay, arm, firstPosition], unit, encoded]: ArchivedVisitor,
    groups: readonly number[],
  ): void {
    const visitor = this.#findVisitor(experiment, unit);
    for (const { day, arms, figures } of decodeUnitDays(encoded, arm, firstDay)) {
      const unitDay = findOrInsertDay(visitor.days, day);
      unitDay.arms |= arms;
      addFigures(unitDay.figures, figures, 1);
    }
    decideArm(visitor, { arm, groups }, firstPosition);
    // Bounds the memory that a large archive takes.
    if (this.#changed.size >= bounds.projectionBatchRecordsMax) this.write();
  }

  /** Removes the days before `untilDay` of all visitors. */
  removeDaysBefore(untilDay: number): void {
    const rows = this.#database.rows<[experiment: number, unit: Buffer]>(
      'SELECT experiment, unit FROM experiment_unit WHERE first_day < ?',
      [untilDay],
    );
    for (const [experiment, unit] of rows) {
      const { days } = this.#findVisitor(experiment, unit);
      days.splice(0, days.filter(({ day }) => day < untilDay).length);
      if (this.#changed.size >= bounds.projectionBatchRecordsMax) this.write();
    }
    this.write();
  }

  /** Writes the changed visitors, and adds their changes to the sums. */
  write(): void {
    const visitors = [...this.#changed.values()];
    this.#changed.clear();
    for (const visitor of visitors) {
      const { experiment, unit, arm, groups, firstPosition, days, hadRevenue } = visitor;
      if (hadRevenue) {
        this.#database.run('DELETE FROM experiment_revenue WHERE experiment = ? AND unit = ?', [experiment, unit]);
      }
      const [first, last] = [days[0], days.at(-1)];
      if (first === undefined || last === undefined) {
        this.#database.run('DELETE FROM experiment_unit WHERE experiment = ? AND unit = ?', [experiment, unit]);
        continue;
      }
      this.#sums.addUnit(experiment, { arm, groups }, days, 1);
      const encoded = encodeUnitDays(days, arm);
      const row = [experiment, unit, arm, firstPosition, first.day, last.day, encoded, encodeVarints(groups)];
      this.#visitorWriter.add(row);
      this.archived.add(experiment, visitor);
      if (!hasRevenue(days)) continue;
      for (const { day, figures } of days) {
        this.#revenueWriter.add([experiment, unit, day, arm, frozenRevenue(figures), figures.sessions]);
      }
    }
    this.#visitorWriter.flush();
    this.#revenueWriter.flush();
  }

  /** Returns a visitor that the batch has changed, or reads a visitor and removes its figures from the sums until `write` adds them again. */
  #findVisitor(experiment: number, unit: Uint8Array): Visitor {
    const hash = Buffer.from(unit);
    const key = `${experiment} ${hash.toString('latin1')}`;
    const changed = this.#changed.get(key);
    if (changed !== undefined) return changed;
    const row = this.#database.row<VisitorColumns>(
      `SELECT ${visitorColumnsSql} FROM experiment_unit WHERE experiment = ? AND unit = ?`,
      [experiment, hash],
    );
    const [arm, firstPosition, firstDay] = row ?? [0, Number.POSITIVE_INFINITY, 0];
    const days = row === null ? [] : decodeUnitDays(row[3], arm, firstDay);
    const groups = decodeVarints(row?.[4] ?? null);
    if (row !== null) this.#sums.addUnit(experiment, { arm, groups }, days, -1);
    const visitor = { experiment, unit: hash, arm, groups, firstPosition, days, hadRevenue: hasRevenue(days) };
    this.#changed.set(key, visitor);
    return visitor;
  }
}

/** The order in which sessions are counted does not matter: the session with the lowest position decides about the arm and the groups. */
function decideArm(
  visitor: Visitor,
  { arm, groups }: { readonly arm: number; readonly groups: readonly number[] },
  position: number,
): void {
  if (position > visitor.firstPosition) return;
  visitor.arm = arm;
  if (groups.length > 0) visitor.groups = groups;
  visitor.firstPosition = position;
}

function hasRevenue(days: readonly UnitDay[]): boolean {
  return days.some(({ figures }) => frozenRevenue(figures) > 0);
}

function findOrInsertDay(days: UnitDay[], day: number): UnitDay {
  let index = days.length;
  while (index > 0 && days[index - 1]!.day >= day) index--;
  if (days[index]?.day === day) return days[index]!;
  const unitDay = { day, arms: 0, figures: { ...noSessions } };
  days.splice(index, 0, unitDay);
  return unitDay;
}
