import { getOrAdd } from '../../domain/get-or-add.ts';
import {
  addGroupSums,
  addUnitSums,
  type GroupSums,
  groupSumNames,
  largeUnitSumNames,
  noGroupSums,
  noUnitSums,
  type UnitDay,
  type UnitSums,
  unitContributions,
  unitSumNames,
} from '../../experiments/unit-sums.ts';
import { deviceGroupMax, groupSumColumns, unitSumColumns } from '../analytics-database.ts';
import { createIncrementSql, RowWriter, type SqlDatabase, toSqlInteger } from '../sql-database.ts';

/** Identifies the sums of one arm and cohort day of an experiment. */
export interface ArmDayKey {
  readonly experiment: number;
  readonly day: number;
  readonly arm: number;
}

interface ArmDayChange extends ArmDayKey {
  sessionsWithoutUnit: number;
  readonly sums: UnitSums;
  readonly revenueMicrosByWeek: number[];
}

interface GroupChange extends ArmDayKey {
  readonly group: number;
  readonly sums: GroupSums;
}

/** Collects the changes of a batch to the sums by arm and cohort day, and adds them to the tables. */
export class ExperimentSumChanges {
  readonly #changes = new Map<string, ArmDayChange>();
  readonly #groupChanges = new Map<string, GroupChange>();
  readonly #database: SqlDatabase;
  readonly #dayWriter: RowWriter;
  readonly #groupWriter: RowWriter;
  readonly #ageWriter: RowWriter;

  constructor(database: SqlDatabase) {
    this.#database = database;
    const sums = ['no_unit', ...unitSumColumns];
    this.#dayWriter = new RowWriter(
      database,
      'experiment_day',
      ['experiment', 'day', 'arm', ...sums],
      `ON CONFLICT DO UPDATE SET ${createIncrementSql(sums)}`,
    );
    this.#groupWriter = new RowWriter(
      database,
      'experiment_group',
      ['experiment', 'value', 'day', 'arm', ...groupSumColumns],
      `ON CONFLICT DO UPDATE SET ${createIncrementSql(groupSumColumns)}`,
    );
    this.#ageWriter = new RowWriter(
      database,
      'experiment_age',
      ['experiment', 'day', 'arm', 'age_weeks', 'revenue_micros'],
      // Reversals can make the revenue of a week negative.
      'ON CONFLICT DO UPDATE SET revenue_micros = revenue_micros + excluded.revenue_micros',
    );
  }

  /**
   * Adds a unit to the sums of its arm and its groups (`sign` 1), or removes it (`sign` -1). `days` must be in ascending order. Groups that do
   * not exist are ignored.
   */
  addUnit(
    experiment: number,
    { arm, groups }: { readonly arm: number; readonly groups: readonly number[] },
    days: readonly UnitDay[],
    sign: 1 | -1,
  ): void {
    for (const [index, contribution] of unitContributions(days).entries()) {
      const { day, figures } = days[index]!;
      const key = { experiment, day, arm };
      addUnitSums(this.#changeOf(key).sums, contribution, sign);
      for (const [week, micros] of figures.revenueMicrosByWeek.entries())
        this.addRevenueOfWeek(key, week, sign * micros);
      for (const group of groups) addGroupSums(this.#groupChangeOf(key, group).sums, contribution, sign);
    }
  }

  addSums(key: ArmDayKey, sums: UnitSums): void {
    addUnitSums(this.#changeOf(key).sums, sums, 1);
  }

  addSumsOfGroup(key: ArmDayKey, group: number, sums: GroupSums): void {
    addGroupSums(this.#groupChangeOf(key, group).sums, sums, 1);
  }

  addRevenueOfWeek(key: ArmDayKey, week: number, micros: number): void {
    const { revenueMicrosByWeek } = this.#changeOf(key);
    revenueMicrosByWeek[week] = (revenueMicrosByWeek[week] ?? 0) + micros;
  }

  addSessionsWithoutUnit(key: ArmDayKey, sessions: number): void {
    this.#changeOf(key).sessionsWithoutUnit += sessions;
  }

  /** Adds the changes to the tables. */
  write(): void {
    for (const { experiment, day, arm, sessionsWithoutUnit, sums, revenueMicrosByWeek } of this.#changes.values()) {
      const key = [experiment, day, arm];
      const values = unitSumNames.map((name) => sums[name]);
      const largeValues = largeUnitSumNames.map((name) => toSqlInteger(sums[name]));
      this.#dayWriter.add([...key, sessionsWithoutUnit, ...values, ...largeValues]);
      for (const [week, micros] of revenueMicrosByWeek.entries()) {
        if (micros) this.#ageWriter.add([...key, week, micros]);
      }
    }
    this.#changes.clear();
    this.#writeGroups();
    this.#dayWriter.flush();
    this.#ageWriter.flush();
  }

  #writeGroups(): void {
    const exists = new Map<number, boolean>();
    for (const { experiment, group, day, arm, sums } of this.#groupChanges.values()) {
      if (!getOrAdd(exists, group, () => this.#isGroup(group))) continue;
      this.#groupWriter.add([
        experiment,
        group,
        day,
        arm,
        ...groupSumNames.map((name) => sums[name]),
        ...largeUnitSumNames.map((name) => toSqlInteger(sums[name])),
      ]);
    }
    this.#groupChanges.clear();
    this.#groupWriter.flush();
  }

  #isGroup(group: number): boolean {
    if (group <= deviceGroupMax) return true;
    return this.#database.value('SELECT 1 FROM experiment_value WHERE number = ?', [group]) !== null;
  }

  #groupChangeOf({ experiment, day, arm }: ArmDayKey, group: number): GroupChange {
    return getOrAdd(this.#groupChanges, `${experiment} ${group} ${day} ${arm}`, () => ({
      experiment,
      group,
      day,
      arm,
      sums: { ...noGroupSums },
    }));
  }

  #changeOf({ experiment, day, arm }: ArmDayKey): ArmDayChange {
    return getOrAdd(this.#changes, `${experiment} ${day} ${arm}`, () => ({
      experiment,
      day,
      arm,
      sessionsWithoutUnit: 0,
      sums: { ...noUnitSums },
      revenueMicrosByWeek: [],
    }));
  }
}
