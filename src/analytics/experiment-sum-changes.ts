import { getOrAdd } from '../domain/get-or-add.ts';
import {
  addUnitSums,
  largeUnitSumNames,
  noUnitSums,
  type UnitDay,
  type UnitSums,
  unitContributions,
  unitSumNames,
} from '../experiments/unit-sums.ts';
import { unitSumColumns } from './analytics-database.ts';
import { createIncrementSql, RowWriter, type SqlDatabase, toSqlInteger } from './sql-database.ts';

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

/** Collects the changes of a batch to the sums by arm and cohort day, and adds them to the tables. */
export class ExperimentSumChanges {
  readonly #changes = new Map<string, ArmDayChange>();
  readonly #dayWriter: RowWriter;
  readonly #ageWriter: RowWriter;

  constructor(database: SqlDatabase) {
    const sums = ['no_unit', ...unitSumColumns];
    this.#dayWriter = new RowWriter(
      database,
      'experiment_day',
      ['experiment', 'day', 'arm', ...sums],
      `ON CONFLICT DO UPDATE SET ${createIncrementSql(sums)}`,
    );
    this.#ageWriter = new RowWriter(
      database,
      'experiment_age',
      ['experiment', 'day', 'arm', 'age_weeks', 'revenue_micros'],
      // Reversals can make the revenue of a week negative.
      'ON CONFLICT DO UPDATE SET revenue_micros = revenue_micros + excluded.revenue_micros',
    );
  }

  /** Adds a unit to the sums of its arm (`sign` 1), or removes it (`sign` -1). `days` must be in ascending order. */
  addUnit(experiment: number, arm: number, days: readonly UnitDay[], sign: 1 | -1): void {
    for (const [index, contribution] of unitContributions(days).entries()) {
      const { day, figures } = days[index]!;
      const key = { experiment, day, arm };
      addUnitSums(this.#changeOf(key).sums, contribution, sign);
      for (const [week, micros] of figures.revenueMicrosByWeek.entries())
        this.addRevenueOfWeek(key, week, sign * micros);
    }
  }

  addSums(key: ArmDayKey, sums: UnitSums): void {
    addUnitSums(this.#changeOf(key).sums, sums, 1);
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
    this.#dayWriter.flush();
    this.#ageWriter.flush();
  }

  #changeOf({ experiment, day, arm }: ArmDayKey): ArmDayChange {
    return getOrAdd(this.#changes, `${experiment} ${day} ${arm}`, () => ({
      ...{ experiment, day, arm, sessionsWithoutUnit: 0 },
      sums: { ...noUnitSums },
      revenueMicrosByWeek: [],
    }));
  }
}
