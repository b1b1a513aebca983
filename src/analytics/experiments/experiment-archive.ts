import type { ExperimentDefinition } from '../../experiments/experiment.ts';
import {
  type GroupSums,
  groupSumNames,
  largeUnitSumNames,
  type UnitSums,
  unitSumNames,
} from '../../experiments/unit-sums.ts';
import { deviceGroupMax, groupSumColumns, unitSumColumns } from '../analytics-database.ts';
import type { ArchiveRecord } from '../archive-record.ts';
import { createDigitsSql, type SqlDatabase } from '../sql-database.ts';
import type { DayRange } from './archived-visitors.ts';
import type { CountedExperiments } from './counted-experiments.ts';
import {
  type ArchivedDimensionValue,
  type ArchivedExperiment,
  type ArchivedExperimentAge,
  type ArchivedExperimentDay,
  type ArchivedGroupDay,
  type ArchivedSessionRevenue,
  type ExperimentArchiveRecord,
  experimentArchiveKind,
} from './experiment-archive-record.ts';
import type { ExperimentSumChanges } from './experiment-sum-changes.ts';
import type { ExperimentVisitors } from './experiment-visitors.ts';

/** Ledger records that are going to be deleted. */
interface DeletedRecords {
  readonly fromPosition: number;
  /** Exclusive. */
  readonly untilPosition: number;
}

interface ExperimentRow {
  readonly number: number;
  readonly account: number;
  readonly vertical: number;
  readonly test: 0 | 1;
  readonly name: string;
  readonly createdMs: number;
  readonly position: number;
  readonly definedPosition: number;
  readonly countedPosition: number;
  readonly closedPosition: number | null;
  readonly deletedPosition: number | null;
}

const selectExperimentsSql = `
  SELECT number, account, vertical, test, name, created_ms AS createdMs, experiment.position,
    defined_position AS definedPosition, counted_position AS countedPosition, closed_position AS closedPosition,
    deleted_position AS deletedPosition
  FROM experiment JOIN experiment_fill ON experiment = number ORDER BY number`;

const largeSumColumns = unitSumColumns.slice(unitSumNames.length);
const smallSumColumns = unitSumColumns.slice(0, unitSumNames.length);
const selectGroupSumsSql = `
  SELECT day, arm, value, ${groupSumColumns.slice(0, groupSumNames.length).join(', ')}, ${largeSumColumns.map(createDigitsSql).join(', ')}
  FROM experiment_group WHERE experiment = ? AND day >= ? AND day < ?`;
const inDaysSql = 'WHERE experiment = ? AND day >= ? AND day < ?';
const selectSumsSql = `
  SELECT ${smallSumColumns.join(', ')}, ${largeSumColumns.map(createDigitsSql).join(', ')}
  FROM experiment_day WHERE experiment = ? AND day = ? AND arm = ?`;

/** Reads the experiments to archive, and restores archived experiments. */
export class ExperimentArchive {
  readonly #database: SqlDatabase;
  readonly #experiments: CountedExperiments;
  readonly #sums: ExperimentSumChanges;
  readonly #visitors: ExperimentVisitors;

  constructor(
    database: SqlDatabase,
    experiments: CountedExperiments,
    sums: ExperimentSumChanges,
    visitors: ExperimentVisitors,
  ) {
    this.#database = database;
    this.#experiments = experiments;
    this.#sums = sums;
    this.#visitors = visitors;
  }

  /**
   * Searches some of the visitors whose days `read` needs, because a search of all would delay queries. Returns whether `read` can be called.
   *
   * @param visitorsMax about the number of visitors to search
   */
  prepare(days: DayRange, visitorsMax: number): boolean {
    return this.#visitors.archived.search(days, visitorsMax);
  }

  /** Must be called after the days were archived, and when the sums of an experiment may be deleted. */
  endPreparation(): void {
    this.#visitors.archived.clear();
  }

  /** Yields the figures of a range of days, which must be prepared, and every definition, closing and deletion whose ledger record is going to be deleted. */
  *read(days: DayRange, deleted: DeletedRecords): Generator<ExperimentArchiveRecord, void> {
    for (const experiment of this.#database.objects<ExperimentRow>(selectExperimentsSql)) {
      const range = [experiment.number, days.fromDay, days.untilDay];
      const hasDays = this.#database.value(`SELECT 1 FROM experiment_day ${inDaysSql}`, range) !== null;
      const record = this.#toArchivedExperiment(experiment, deleted);
      const isDefinitionDeleted = [experiment.position, experiment.definedPosition].some((position) =>
        isDeleted(position, deleted),
      );
      if (!hasDays && !isDefinitionDeleted && record.length === 3) continue;
      yield record;
      if (hasDays) yield* this.#readFigures(experiment.number, days);
    }
  }

  #toArchivedExperiment(experiment: ExperimentRow, deletedRecords: DeletedRecords): ArchivedExperiment {
    const { number, account, vertical, test, name, createdMs, position, definedPosition, countedPosition } = experiment;
    const json = this.#database.value<string>('SELECT definition FROM experiment WHERE number = ?', [number])!;
    const key = [account, vertical, test, name] as const;
    const dimensionPositions = (JSON.parse(json) as ExperimentDefinition).dimensions.map(
      (name) =>
        this.#database.value<number>(
          'SELECT since_position FROM experiment_dimension WHERE experiment = ? AND name = ?',
          [number, name],
        ) ?? 0,
    );
    const definition = [json, createdMs, position, definedPosition, countedPosition, ...dimensionPositions] as const;
    const isClosingDeleted = isDeleted(experiment.closedPosition, deletedRecords);
    const isHidingDeleted = isDeleted(experiment.deletedPosition, deletedRecords);
    if (!isClosingDeleted && !isHidingDeleted) return [experimentArchiveKind.experiment, key, definition];
    const closing = isClosingDeleted
      ? this.#database.row<[outcome: string, closedMs: number, closedBy: number, closedPosition: number]>(
          'SELECT outcome, closed_ms, closed_by, closed_position FROM experiment WHERE number = ?',
          [number],
        )
      : null;
    return [
      experimentArchiveKind.experiment,
      key,
      definition,
      closing,
      isHidingDeleted ? experiment.deletedPosition : null,
    ];
  }

  *#readFigures(number: number, { fromDay, untilDay }: DayRange): Generator<ExperimentArchiveRecord, void> {
    const isOfVisitors = this.#experiments.findExperiment(number).definition.unit === 'visitor';
    const range = [number, fromDay, untilDay];
    const values = this.#database.rows<[...ArchivedDimensionValue[1], dimension: string, value: string]>(
      'SELECT number, first_position, dimension, value FROM experiment_value WHERE experiment = ?',
      [number],
    );
    for (const [group, firstPosition, dimension, value] of values) {
      yield [experimentArchiveKind.dimensionValue, [group, firstPosition], dimension, value];
    }
    const days = this.#database.rows<ArchivedExperimentDay[1]>(
      `SELECT day, arm, no_unit FROM experiment_day ${inDaysSql}`,
      range,
    );
    for (const key of days) {
      const [day, arm, sessionsWithoutUnit] = key;
      if (isOfVisitors) {
        if (sessionsWithoutUnit > 0) yield [experimentArchiveKind.day, key];
        continue;
      }
      const row = this.#database.row<(number | string)[]>(selectSumsSql, [number, day, arm])!;
      const sums = row.slice(0, unitSumNames.length) as number[];
      yield [experimentArchiveKind.day, key, sums, row.slice(unitSumNames.length) as string[]];
    }
    if (isOfVisitors) {
      yield* this.#visitors.archived.read(number);
      return;
    }
    const groups = this.#database.rows<[...ArchivedGroupDay[1], ...sums: (number | string)[]]>(
      selectGroupSumsSql,
      range,
    );
    for (const [day, arm, group, ...sums] of groups) {
      const small = sums.slice(0, groupSumNames.length) as number[];
      yield [experimentArchiveKind.groupDay, [day, arm, group], small, sums.slice(groupSumNames.length) as string[]];
    }
    const ages = this.#database.rows<ArchivedExperimentAge[1]>(
      `SELECT day, arm, age_weeks, revenue_micros FROM experiment_age ${inDaysSql}`,
      range,
    );
    for (const age of ages) yield [experimentArchiveKind.age, age];
    const revenues = this.#database.rows<ArchivedSessionRevenue[1]>(
      `SELECT day, arm, unit, revenue_micros FROM experiment_revenue ${inDaysSql}`,
      range,
    );
    for (const revenue of revenues) yield [experimentArchiveKind.sessionRevenue, revenue];
  }

  /**
   * Replaces the figures of all days before `untilDay` with the archived figures, and restores archived definitions. Yields the other records
   * of the archive. The caller must open a transaction first.
   */
  *restore(untilDay: number, archived: Iterable<ArchiveRecord>): Generator<ArchiveRecord, void> {
    this.#visitors.removeDaysBefore(untilDay);
    this.#sums.write();
    for (const table of ['experiment_day', 'experiment_age', 'experiment_revenue', 'experiment_group']) {
      this.#database.run(`DELETE FROM ${table} WHERE day < ?`, [untilDay]);
    }
    let experiment: number | null = null;
    const restored = new Set<number>();
    const groups = new ArchivedGroups();
    for (const record of archived) {
      if (record[0] === experimentArchiveKind.experiment) {
        this.#write();
        experiment = this.#experiments.restoreExperiment(record);
        groups.clear(record);
        if (experiment !== null) restored.add(experiment);
      } else if (record[0] === experimentArchiveKind.dimensionValue) {
        if (experiment !== null) this.#restoreValue(experiment, groups, record);
      } else if (record[0] === experimentArchiveKind.visitor) {
        if (experiment !== null) this.#visitors.restoreDays(experiment, record, groups.findAll(record[4] ?? []));
      } else if (isFigure(record)) {
        if (experiment !== null) this.#restoreFigure(experiment, groups, record);
      } else {
        yield record;
      }
    }
    this.#write();
    for (const number of restored) this.#experiments.removeSurplusValues(number);
  }

  /** Ignores a value of a dimension that the experiment does not have any more. */
  #restoreValue(experiment: number, groups: ArchivedGroups, record: ArchivedDimensionValue): void {
    const [, [group, firstPosition], dimension, value] = record;
    const { dimensions } = this.#experiments.findExperiment(experiment);
    const sincePosition = groups.findSincePosition(dimension);
    if (!dimensions.some((each) => each.name === dimension && each.sincePosition === sincePosition)) return;
    groups.add(group, this.#experiments.groups.addValue(experiment, dimension, value, firstPosition));
  }

  #write(): void {
    this.#visitors.write();
    this.#sums.write();
  }

  #restoreFigure(experiment: number, groups: ArchivedGroups, record: ArchivedFigure): void {
    const [day, arm] = record[1];
    const key = { experiment, day, arm };
    switch (record[0]) {
      case experimentArchiveKind.day: {
        const [, [, , sessionsWithoutUnit], sums, largeSums] = record;
        this.#sums.addSessionsWithoutUnit(key, sessionsWithoutUnit);
        if (sums !== undefined && largeSums !== undefined) this.#sums.addSums(key, toUnitSums(sums, largeSums));
        break;
      }
      case experimentArchiveKind.groupDay: {
        const [, [, , group], sums, largeSums] = record;
        for (const number of groups.findAll([group]))
          this.#sums.addSumsOfGroup(key, number, toGroupSums(sums, largeSums));
        break;
      }
      case experimentArchiveKind.age:
        this.#sums.addRevenueOfWeek(key, record[1][2], record[1][3]);
        break;
      case experimentArchiveKind.sessionRevenue: {
        const [, , position, micros] = record[1];
        const row = [experiment, position, day, arm, micros];
        this.#database.run('INSERT INTO experiment_revenue VALUES (?, ?, ?, ?, ?, 1)', row);
      }
    }
  }
}

/** Maps the numbers of groups in the records of one archived experiment to their numbers in the store. */
class ArchivedGroups {
  readonly #numbers = new Map<number, number>();
  #sincePositions = new Map<string, number>();

  /** Starts with the next archived experiment. */
  clear([, , [json, , , , , ...dimensionPositions]]: ArchivedExperiment): void {
    this.#numbers.clear();
    const { dimensions } = JSON.parse(json) as ExperimentDefinition;
    this.#sincePositions = new Map(dimensions.map((name, index) => [name, dimensionPositions[index] ?? 0]));
  }

  findSincePosition(dimension: string): number | undefined {
    return this.#sincePositions.get(dimension);
  }

  add(archivedGroup: number, group: number): void {
    this.#numbers.set(archivedGroup, group);
  }

  /** Converts archived group numbers to numbers in the store, and omits groups that the store lacks. A device class keeps its number. */
  findAll(archivedGroups: readonly number[]): number[] {
    return archivedGroups.flatMap((group) => (group <= deviceGroupMax ? [group] : (this.#numbers.get(group) ?? [])));
  }
}

type ArchivedFigure = ArchivedExperimentDay | ArchivedExperimentAge | ArchivedSessionRevenue | ArchivedGroupDay;

function isFigure(record: ArchiveRecord): record is ArchivedFigure {
  const { day, age, sessionRevenue, groupDay } = experimentArchiveKind;
  return [day, age, sessionRevenue, groupDay].some((kind) => kind === record[0]);
}

function isDeleted(position: number | null, { fromPosition, untilPosition }: DeletedRecords): boolean {
  return position !== null && position >= fromPosition && position < untilPosition;
}

function toUnitSums(sums: readonly number[], largeSums: readonly string[]): UnitSums {
  return Object.fromEntries([
    ...unitSumNames.map((name, index) => [name, sums[index] ?? 0]),
    ...largeUnitSumNames.map((name, index) => [name, BigInt(largeSums[index]!)]),
  ]) as UnitSums;
}

function toGroupSums(sums: readonly number[], largeSums: readonly string[]): GroupSums {
  return Object.fromEntries([
    ...groupSumNames.map((name, index) => [name, sums[index]!]),
    ...largeUnitSumNames.map((name, index) => [name, BigInt(largeSums[index]!)]),
  ]) as GroupSums;
}
