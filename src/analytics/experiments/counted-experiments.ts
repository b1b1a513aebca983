import { bounds } from '../../bounds.ts';
import { daysSinceEpoch } from '../../domain/calendar.ts';
import { type ExperimentDefinition, isRetrospective } from '../../experiments/experiment.ts';
import { decodeSubId } from '../../ids/sub-id.ts';
import { deviceClasses, type ExperimentRecord, ledgerRecordKind } from '../../ledger/ledger-record.ts';
import type { SessionState } from '../projection-state.ts';
import type { SqlDatabase } from '../sql-database.ts';
import type { ArchivedExperiment } from './experiment-archive-record.ts';
import { type CountedDimension, ExperimentGroups } from './experiment-groups.ts';
import { applyExperimentRecord } from './experiment-table.ts';

/** The members of an experiment that determine which sessions count in it. */
export interface CountedExperiment {
  readonly number: number;
  readonly definition: ExperimentDefinition;
  /** Ledger positions of the first definition and of the closing; infinite if the experiment is not closed. */
  readonly position: number;
  readonly closedPosition: number;
  /** Ledger position of the last definition that changed which sessions count, or how. */
  readonly countedPosition: number;
  readonly isRetrospective: boolean;
  readonly dimensions: readonly CountedDimension[];
}

export interface CountedArm {
  readonly experiment: CountedExperiment;
  /** Index in the arms of the definition. */
  readonly arm: number;
}

/** Last counted session, when the earlier sessions of a new experiment are counted in the order of day, tag number and position. */
export interface FillCursor {
  readonly day: number;
  readonly tagNumber: number;
  readonly position: number;
}

/** Cursor of a changed experiment until the sums of its earlier definition are deleted. No session is counted yet. */
export const deletingCursor: FillCursor = { day: -1, tagNumber: 0, position: 0 };

/** Cursor of an experiment that has counted all sessions, but still has surplus values of dimensions. */
export const endCursor: FillCursor = { day: Number.MAX_SAFE_INTEGER, tagNumber: 0, position: 0 };

export const startCursor: FillCursor = { day: 0, tagNumber: 0, position: 0 };

type ExperimentKey = ArchivedExperiment[1];

interface DefinitionPositions {
  readonly definedPosition: number;
  readonly countedPosition: number;
}

interface StoredDefinition extends DefinitionPositions {
  readonly number: number;
  readonly definition: ExperimentDefinition;
  /** Position of the last applied ledger record of each kind; 0 without one. */
  readonly appliedPositions: Record<ExperimentRecord[0], number>;
}

type ExperimentColumns = [
  number: number,
  definition: string,
  createdMs: number,
  position: number,
  closedPosition: number | null,
  countedPosition: number | null,
];

type DefinitionColumns = [
  number: number,
  definition: string,
  ...positions: [defined: number | null, counted: number | null, closed: number | null, deleted: number | null],
];

const experimentColumnsSql = `
  experiment.number, definition, created_ms, experiment.position, closed_position,
  (SELECT counted_position FROM experiment_fill WHERE experiment_fill.experiment = experiment.number)`;

const selectArmsSql = `
  SELECT arm, ${experimentColumnsSql}
  FROM referrer_tag JOIN experiment_arm USING (account, vertical, test, tag) JOIN experiment ON experiment.number = experiment_arm.experiment
  WHERE referrer_tag.number = ? ORDER BY experiment.number`;

const botDevice = deviceClasses.indexOf('bot');

/** Finds the experiments in which a session counts. Caches the experiments of each referrer tag. */
export class CountedExperiments {
  readonly #database: SqlDatabase;
  readonly groups: ExperimentGroups;
  readonly #armsByTag = new Map<number, readonly CountedArm[]>();
  /** Experiments whose earlier sessions are not all counted, by number. */
  readonly #fills: Map<number, FillCursor>;

  constructor(database: SqlDatabase) {
    this.#database = database;
    this.groups = new ExperimentGroups(database);
    const fills = database.rows<[number: number, day: number, tagNumber: number, position: number]>(
      'SELECT experiment, day, tag_number, position FROM experiment_fill WHERE day IS NOT NULL',
    );
    this.#fills = new Map(fills.map(([number, day, tagNumber, position]) => [number, { day, tagNumber, position }]));
  }

  /** Returns the arms in which a session counts now. For a tag without experiments, this is one look-up in the cache. */
  findArms(session: SessionState): readonly CountedArm[] {
    const arms = this.#armsByTag.get(session.tagNumber) ?? this.#readArms(session.tagNumber);
    if (arms.length === 0) return arms;
    return arms.filter(
      ({ experiment }) =>
        isSessionOf(experiment, session) && isReached(this.#fills.get(experiment.number) ?? null, session),
    );
  }

  findExperiment(number: number): CountedExperiment {
    return readCountedExperiment(this.#database, number);
  }

  /** Whether the earlier sessions of an experiment are not all counted. */
  isFilling(number: number): boolean {
    return this.#fills.has(number);
  }

  /** Applies a record of an experiment. Returns false if the record is invalid, or changes a closed experiment. */
  applyRecord(position: number, record: ExperimentRecord): boolean {
    const { account, vertical, mode } = decodeSubId(record[2]);
    const key: ExperimentKey = [account, vertical, mode === 'test' ? 1 : 0, record[3]];
    const isDefinition = record[0] === ledgerRecordKind.experimentDefined;
    const before = this.#findDefinition(key);
    // The archive may have contained the change.
    if (before !== null && position <= before.appliedPositions[record[0]]) return true;
    if (!applyExperimentRecord(this.#database, position, record)) return false;
    this.#armsByTag.clear();
    if (isDefinition) this.#applyDefinition(key, before, position);
    return true;
  }

  /**
   * Stores the arms and dimensions of a new or changed definition. If a change affects which sessions count, or how, counts all sessions again.
   * After sessions of the experiment were archived, a new dimension counts later sessions only, and the other figures stay.
   */
  #applyDefinition(key: ExperimentKey, before: StoredDefinition | null, position: number): void {
    const { number } = this.#findDefinition(key)!;
    const { definition, isRetrospective } = this.findExperiment(number);
    const countsSame = before !== null && describeCounting(before.definition) === describeCounting(definition);
    const isSame = countsSame && (hasEqualDimensions(before.definition, definition) || this.#hasArchivedDays(number));
    const sincePosition = isSame ? position : 0;
    if (!isSame) this.#database.run('DELETE FROM experiment_dimension WHERE experiment = ?', [number]);
    this.#storeDimensions(
      number,
      definition.dimensions.map((name) => ({
        name,
        sincePosition:
          readDimensions(this.#database, number).find((each) => each.name === name)?.sincePosition ?? sincePosition,
      })),
    );
    const countedPosition = countsSame ? before.countedPosition : position;
    this.#storeArms(key, number, before, definition, { definedPosition: position, countedPosition });
    if (isSame) return;
    if (before !== null) this.saveFill(number, deletingCursor);
    else if (isRetrospective) this.saveFill(number, startCursor);
  }

  #hasArchivedDays(number: number): boolean {
    const sql = 'SELECT 1 FROM experiment_day WHERE experiment = ? AND day < (SELECT kept_from_day FROM retention)';
    return this.#database.value(sql, [number]) !== null;
  }

  /** Replaces the dimensions of an experiment. Removes the figures of each dimension that is not the same. */
  #storeDimensions(number: number, dimensions: readonly CountedDimension[]): void {
    for (const { name, sincePosition } of readDimensions(this.#database, number)) {
      if (dimensions.some((each) => each.name === name && each.sincePosition === sincePosition)) continue;
      this.groups.removeDimension(number, name);
      this.#database.run('DELETE FROM experiment_dimension WHERE experiment = ? AND name = ?', [number, name]);
    }
    for (const { name, sincePosition } of dimensions) {
      this.#database.run('INSERT OR IGNORE INTO experiment_dimension VALUES (?, ?, ?)', [number, name, sincePosition]);
    }
  }

  /**
   * Restores an experiment from the archive. Returns its number, or null if the archived figures are not those of its present definition, so
   * that they must be ignored.
   */
  restoreExperiment([, key, [json, ...positions], closing, deletedPosition]: ArchivedExperiment): number | null {
    const [createdMs, position, definedPosition, countedPosition, ...dimensionPositions] = positions;
    const before = this.#findDefinition(key);
    if (before === null || definedPosition > before.definedPosition) {
      this.#database.run(
        `INSERT INTO experiment (account, vertical, test, name, definition, created_ms, position)
          VALUES (?, ?, ?, ?, ?, ?, ?)
          ON CONFLICT DO UPDATE SET definition = excluded.definition`,
        [...key, json, createdMs, position],
      );
      const { number, definition } = this.#findDefinition(key)!;
      this.#storeArms(key, number, before, definition, { definedPosition, countedPosition });
    }
    const { number, definition } = this.#findDefinition(key)!;
    this.#armsByTag.clear();
    if (before === null || countedPosition > before.countedPosition) {
      for (const table of ['experiment_day', 'experiment_age', 'experiment_unit', 'experiment_revenue']) {
        this.#database.run(`DELETE FROM ${table} WHERE experiment = ?`, [number]);
      }
      this.groups.removeAll(number);
      // The store may contain sessions of days that are not archived.
      this.saveFill(number, startCursor);
    }
    if (before === null || definedPosition > before.definedPosition) {
      const dimensions = definition.dimensions.map((name, index) => ({
        name,
        sincePosition: dimensionPositions[index] ?? 0,
      }));
      this.#storeDimensions(number, dimensions);
    }
    if (closing) {
      this.#database.run(
        `UPDATE experiment SET outcome = ?, closed_ms = ?, closed_by = ?, closed_position = ? WHERE number = ?`,
        [...closing, number],
      );
    }
    if (deletedPosition) {
      this.#database.run('UPDATE experiment SET deleted_position = ? WHERE number = ?', [deletedPosition, number]);
    }
    return countedPosition < (before?.countedPosition ?? 0) ? null : number;
  }

  #storeArms(
    [account, vertical, test]: ExperimentKey,
    number: number,
    before: StoredDefinition | null,
    { arms }: ExperimentDefinition,
    { definedPosition, countedPosition }: DefinitionPositions,
  ): void {
    const tagSql = 'account = ? AND vertical = ? AND test = ? AND tag = ? AND experiment = ?';
    for (const { referrerTag } of before?.definition.arms ?? []) {
      this.#database.run(`DELETE FROM experiment_arm WHERE ${tagSql}`, [account, vertical, test, referrerTag, number]);
    }
    for (const [arm, { referrerTag }] of arms.entries()) {
      const row = [account, vertical, test, referrerTag, number, arm];
      this.#database.run('INSERT OR IGNORE INTO experiment_arm VALUES (?, ?, ?, ?, ?, ?)', row);
    }
    this.#database.run(
      `INSERT INTO experiment_fill VALUES (?, ?, ?, NULL, 0, 0) ON CONFLICT DO UPDATE
        SET defined_position = excluded.defined_position, counted_position = excluded.counted_position`,
      [number, definedPosition, countedPosition],
    );
  }

  #findDefinition(key: ExperimentKey): StoredDefinition | null {
    const row = this.#database.row<DefinitionColumns>(
      `SELECT number, definition, defined_position, counted_position, closed_position, deleted_position
        FROM experiment LEFT JOIN experiment_fill ON experiment = number
        WHERE account = ? AND vertical = ? AND test = ? AND name = ?`,
      key,
    );
    if (row === null) return null;
    const [number, json, definedPosition, countedPosition, closedPosition, deletedPosition] = row;
    return {
      number,
      definition: JSON.parse(json) as ExperimentDefinition,
      definedPosition: definedPosition ?? 0,
      countedPosition: countedPosition ?? 0,
      appliedPositions: {
        [ledgerRecordKind.experimentDefined]: definedPosition ?? 0,
        [ledgerRecordKind.experimentClosed]: closedPosition ?? 0,
        [ledgerRecordKind.experimentDeleted]: deletedPosition ?? 0,
      },
    };
  }

  /** The next experiment whose earlier sessions are to be counted, and the last counted session; null if there is none. */
  get nextFill(): readonly [number: number, cursor: FillCursor] | null {
    for (const fill of this.#fills) return fill;
    return null;
  }

  /** Removes the surplus values of the dimensions of an experiment, unless it is filled, because the fill then removes them. */
  removeSurplusValues(number: number): void {
    if (this.isFilling(number)) return;
    for (const { name } of readDimensions(this.#database, number)) while (this.groups.removeSurplus(number, name));
  }

  /** Stores how far the earlier sessions of an experiment are counted; null if all are counted. */
  saveFill(number: number, cursor: FillCursor | null): void {
    const { day = null, tagNumber = 0, position = 0 } = cursor ?? {};
    this.#database.run('UPDATE experiment_fill SET day = ?, tag_number = ?, position = ? WHERE experiment = ?', [
      day,
      tagNumber,
      position,
      number,
    ]);
    if (cursor === null) this.#fills.delete(number);
    else this.#fills.set(number, cursor);
  }

  #readArms(tagNumber: number): readonly CountedArm[] {
    const rows = this.#database.rows<[arm: number, ...ExperimentColumns]>(selectArmsSql, [tagNumber]);
    const arms = rows.map(([arm, ...columns]) => ({ experiment: toCountedExperiment(this.#database, columns), arm }));
    if (this.#armsByTag.size >= bounds.projectionNameCacheEntriesMax) this.#armsByTag.clear();
    this.#armsByTag.set(tagNumber, arms);
    return arms;
  }
}

type SessionOrder = Pick<SessionState, 'tagNumber' | 'position' | 'createdMs'>;

/**
 * Whether a session is counted. While earlier sessions are counted, a later session is counted when the fill reaches it. `fill` is null when
 * all are counted.
 */
export function isReached(fill: FillCursor | null, { tagNumber, position, createdMs }: SessionOrder): boolean {
  if (fill === null) return true;
  const day = daysSinceEpoch(createdMs);
  if (day !== fill.day) return day < fill.day;
  return tagNumber === fill.tagNumber ? position <= fill.position : tagNumber < fill.tagNumber;
}

/** Reads how far the earlier sessions of an experiment are counted; null when all are counted. */
export function readFill(database: SqlDatabase, number: number): FillCursor | null {
  return database.object<FillCursor>(
    'SELECT day, tag_number AS tagNumber, position FROM experiment_fill WHERE experiment = ? AND day IS NOT NULL',
    [number],
  );
}

/** Reads an experiment of the store by its number. */
export function readCountedExperiment(database: SqlDatabase, number: number): CountedExperiment {
  const sql = `SELECT ${experimentColumnsSql} FROM experiment WHERE number = ?`;
  return toCountedExperiment(database, database.row<ExperimentColumns>(sql, [number])!);
}

function toCountedExperiment(
  database: SqlDatabase,
  [number, json, createdMs, position, closedPosition, countedPosition]: ExperimentColumns,
): CountedExperiment {
  // `applyExperimentRecord` has checked the text.
  const definition = JSON.parse(json) as ExperimentDefinition;
  return {
    number,
    definition,
    position,
    closedPosition: closedPosition ?? Number.POSITIVE_INFINITY,
    countedPosition: countedPosition ?? 0,
    isRetrospective: isRetrospective({ definition, createdMs }),
    dimensions: readDimensions(database, number),
  };
}

function readDimensions(database: SqlDatabase, number: number): CountedDimension[] {
  return database.objects<CountedDimension>(
    'SELECT name, since_position AS sincePosition FROM experiment_dimension WHERE experiment = ?',
    [number],
  );
}

function hasEqualDimensions(a: ExperimentDefinition, b: ExperimentDefinition): boolean {
  return a.dimensions.length === b.dimensions.length && a.dimensions.every((name) => b.dimensions.includes(name));
}

/** Returns a text that is equal for two definitions by which the same sessions count in the same way. */
function describeCounting({
  arms,
  unit,
  assignment,
  startsOn,
  endsOn,
  capMicros,
  revenueDays,
  graceDays,
}: ExperimentDefinition): string {
  const tags = arms.map(({ referrerTag }) => referrerTag);
  return JSON.stringify([tags, unit, assignment, startsOn, endsOn, capMicros, revenueDays, graceDays]);
}

/** Whether a session with a tag of an experiment is in one of its arms, if it also has the unit that the experiment needs. */
export function isSessionOf(
  experiment: CountedExperiment,
  { position, device, createdMs }: Pick<SessionState, 'position' | 'device' | 'createdMs'>,
): boolean {
  const { startsOn, endsOn } = experiment.definition;
  if (device === botDevice || position > experiment.closedPosition) return false;
  if (!experiment.isRetrospective && position < experiment.position) return false;
  const day = daysSinceEpoch(createdMs);
  return day >= startsOn && (endsOn === null || day <= endsOn);
}
