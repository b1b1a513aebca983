import { bounds } from '../../bounds.ts';
import { daysSinceEpoch, msPerDay } from '../../domain/calendar.ts';
import {
  type Experiment,
  type ExperimentDefinition,
  type ExperimentOutcome,
  type ExperimentState,
  experimentStateOn,
  parseExperimentDefinition,
  parseExperimentOutcome,
} from '../../experiments/experiment.ts';
import { decodeSubId } from '../../ids/sub-id.ts';
import { type ExperimentRecord, ledgerRecordKind } from '../../ledger/ledger-record.ts';
import type {
  AnalyticsTenant,
  DefinitionCheck,
  DefinitionQuery,
  ExperimentQuery,
  ExperimentsPage,
  ExperimentsQuery,
} from '../analytics.ts';
import type { SqlDatabase } from '../sql-database.ts';

interface ExperimentRow {
  readonly number: number;
  readonly name: string;
  readonly definition: string;
  readonly createdMs: number;
  readonly closed: string | null;
  readonly closedMs: number | null;
  readonly closedBy: number | null;
  readonly deletedPosition: number | null;
}

const selectAllSql = `
  SELECT number, name, definition, created_ms AS createdMs, outcome AS closed, closed_ms AS closedMs, closed_by AS closedBy,
    deleted_position AS deletedPosition
  FROM experiment`;
const selectSql = `${selectAllSql} WHERE account = ? AND vertical = ? AND test = ?`;

/** Applies a record of an experiment to the store. Returns false if the record is invalid, or changes a closed experiment. */
export function applyExperimentRecord(database: SqlDatabase, position: number, record: ExperimentRecord): boolean {
  const [kind, wallMs, sub, name, keyNumber] = record;
  const { account, vertical, mode } = decodeSubId(sub);
  const key = [...tenantColumns({ account, vertical, mode }), name];
  const whereSql = 'WHERE account = ? AND vertical = ? AND test = ? AND name = ?';
  switch (kind) {
    case ledgerRecordKind.experimentDefined: {
      const definition = parseExperimentDefinition(record[5]);
      if (definition === null) return false;
      const { changes } = database.run(
        `INSERT INTO experiment (account, vertical, test, name, definition, created_ms, position)
          VALUES (?, ?, ?, ?, ?, ?, ?)
          ON CONFLICT DO UPDATE SET definition = excluded.definition WHERE outcome IS NULL AND deleted_position IS NULL`,
        [...key, record[5], wallMs, position],
      );
      return changes > 0;
    }
    case ledgerRecordKind.experimentClosed: {
      if (parseExperimentOutcome(record[5]) === null) return false;
      const { changes } = database.run(
        `UPDATE experiment SET outcome = ?, closed_ms = ?, closed_by = ?, closed_position = ?
          ${whereSql} AND outcome IS NULL`,
        [record[5], wallMs, keyNumber, position, ...key],
      );
      return changes > 0;
    }
    case ledgerRecordKind.experimentDeleted: {
      const { changes } = database.run(
        `UPDATE experiment SET deleted_position = ? ${whereSql} AND deleted_position IS NULL`,
        [position, ...key],
      );
      return changes > 0;
    }
  }
}

export interface NumberedExperiment {
  /** Number of the experiment in the store. */
  readonly number: number;
  readonly experiment: Experiment;
}

/** Returns an experiment of a tenant, also a deleted one, or null if the tenant has no experiment with the name. */
export function findNumberedExperiment(
  database: SqlDatabase,
  { name, ...tenant }: ExperimentQuery,
): NumberedExperiment | null {
  const row = database.object<ExperimentRow>(`${selectSql} AND name = ?`, [...tenantColumns(tenant), name]);
  return row === null ? null : { number: row.number, experiment: toExperiment(row) };
}

/** Returns the experiment that `findNumberedExperiment` finds. */
export function findExperiment(database: SqlDatabase, query: ExperimentQuery): Experiment | null {
  return findNumberedExperiment(database, query)?.experiment ?? null;
}

/** Returns what decides whether an experiment can be defined with these arms (docs/contract.md#changes-of-experiments). */
export function checkDefinition(database: SqlDatabase, query: DefinitionQuery): DefinitionCheck {
  const { name, tags, today } = query;
  const tenant = tenantColumns(query);
  const whereSql = 'WHERE account = ? AND vertical = ? AND test = ?';
  const experiment = findExperiment(database, query);
  return {
    experiment,
    hasSessions: experiment !== null && hasSessionsAfterCreation(database, query, experiment),
    experimentCount: database.value<number>(`SELECT count(*) FROM experiment ${whereSql}`, tenant)!,
    isTagInUse:
      database.value(
        `SELECT 1 FROM experiment, json_each(definition, '$.arms') AS arm
          ${whereSql} AND name <> ? AND outcome IS NULL AND ifnull(definition ->> 'endsOn' >= ?, 1)
            AND arm.value ->> 'referrerTag' IN (SELECT value FROM json_each(?))`,
        [...tenant, name, today, JSON.stringify(tags)],
      ) !== null,
  };
}

/**
 * Whether a session with the tag of an arm was created after the first definition of the experiment. Sessions of later days are found in the
 * daily counters, which are never deleted. If the sessions of the first day were deleted, all sessions of that day count.
 */
function hasSessionsAfterCreation(
  database: SqlDatabase,
  query: ExperimentQuery,
  { definition, createdMs }: Experiment,
): boolean {
  const columns = [...tenantColumns(query), JSON.stringify(definition.arms.map(({ referrerTag }) => referrerTag))];
  const createdDay = daysSinceEpoch(createdMs);
  const tagsSql = `SELECT number FROM referrer_tag
    WHERE account = ? AND vertical = ? AND test = ? AND tag IN (SELECT value FROM json_each(?))`;
  const positionSql = 'SELECT position FROM experiment WHERE account = ? AND vertical = ? AND test = ? AND name = ?';
  return (
    database.value(
      `SELECT 1 FROM day_counter WHERE tag_number IN (${tagsSql}) AND day > ? - (? < (SELECT kept_from_day FROM retention))`,
      [...columns, createdDay, createdDay],
    ) !== null ||
    database.value(
      `SELECT 1 FROM cohort_piece WHERE day = ? AND tag_number IN (${tagsSql}) AND last_position > (${positionSql})`,
      [createdDay, ...columns, ...tenantColumns(query), query.name],
    ) !== null
  );
}

/** Returns a page of the experiments of a tenant that are not deleted, in alphabetical order. */
export function listExperiments(
  database: SqlDatabase,
  { afterName, limit, currentSinceDay = 0, ...tenant }: ExperimentsQuery,
): ExperimentsPage {
  const found = database.objects<ExperimentRow>(
    `${selectSql} AND name > ? AND deleted_position IS NULL
      AND iif(outcome IS NULL, ifnull(definition ->> 'endsOn' + definition ->> 'revenueDays' + definition ->> 'graceDays' + 1 >= ?, 1),
        closed_ms >= ? * ${msPerDay})
      ORDER BY name LIMIT ?`,
    [...tenantColumns(tenant), afterName, currentSinceDay, currentSinceDay, limit + 1],
  );
  const page = found.slice(0, limit);
  return {
    experiments: page.map(toExperiment),
    nextAfterName: found.length > limit ? page.at(-1)!.name : null,
  };
}

/** Returns the number of experiments of all tenants in each state on a day, without the deleted ones. */
export function countExperiments(database: SqlDatabase, today: number): Readonly<Record<ExperimentState, number>> {
  const counts = { running: 0, maturing: 0, final: 0, closed: 0 };
  const rows = database.objects<ExperimentRow>(`${selectAllSql} WHERE deleted_position IS NULL`);
  for (const row of rows) counts[experimentStateOn(toExperiment(row), today)]++;
  return counts;
}

/** Selects running experiments of all tenants that follow `afterNumber`. */
export interface HashExperimentsQuery {
  readonly afterNumber: number;
  /** Day number of the current day (UTC). */
  readonly today: number;
}

/** An experiment with `assignment: "hash"`. Experiments are numbered in the order of their creation. */
export interface NumberedHashExperiment extends AnalyticsTenant {
  readonly number: number;
  readonly name: string;
  readonly definition: ExperimentDefinition;
}

/**
 * Returns the next running experiments of all tenants with `assignment: "hash"`, also deleted ones, at most `bounds.hashExperimentsPerPage`;
 * an empty list after the last one.
 */
export function listHashExperiments(
  database: SqlDatabase,
  { afterNumber, today }: HashExperimentsQuery,
): readonly NumberedHashExperiment[] {
  const rows = database.rows<
    [number: number, account: number, vertical: number, test: 0 | 1, name: string, definition: string]
  >(
    `SELECT number, account, vertical, test, name, definition FROM experiment
      WHERE number > ? AND outcome IS NULL AND definition ->> 'assignment' = 'hash'
        AND ifnull(definition ->> 'endsOn' >= ?, 1)
      ORDER BY number LIMIT ?`,
    [afterNumber, today, bounds.hashExperimentsPerPage],
  );
  return rows.map(([number, account, vertical, test, name, definition]) => ({
    number,
    account,
    vertical,
    mode: test === 1 ? 'test' : 'live',
    name,
    definition: JSON.parse(definition) as ExperimentDefinition,
  }));
}

/** Returns the values of the columns `account`, `vertical` and `test` of a tenant. */
function tenantColumns({ account, vertical, mode }: AnalyticsTenant): [number, number, 0 | 1] {
  return [account, vertical, mode === 'test' ? 1 : 0];
}

/** The store contains only texts that `applyExperimentRecord` has checked. */
function toExperiment({
  name,
  definition,
  createdMs,
  closed,
  closedMs,
  closedBy,
  deletedPosition,
}: ExperimentRow): Experiment {
  const outcome = closed === null ? null : (JSON.parse(closed) as ExperimentOutcome);
  return {
    name,
    definition: JSON.parse(definition) as ExperimentDefinition,
    createdMs,
    closing: outcome === null ? null : { ...outcome, closedMs: closedMs!, keyNumber: closedBy! },
    isDeleted: deletedPosition !== null,
  };
}
