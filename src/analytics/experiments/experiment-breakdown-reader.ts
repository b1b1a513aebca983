import { bounds } from '../../bounds.ts';
import type { GroupArmFigures, GroupFigures, GroupKind } from '../../experiments/breakdown-figures.ts';
import { type ExperimentDefinition, lastMatureCohortDay } from '../../experiments/experiment.ts';
import { type GroupSums, groupSumNames, largeUnitSumNames } from '../../experiments/unit-sums.ts';
import { deviceClasses } from '../../ledger/ledger-record.ts';
import type { ExperimentQuery } from '../analytics.ts';
import { type SqlDatabase, toColumnName } from '../sql-database.ts';
import { deletingCursor, readFill } from './counted-experiments.ts';
import { absentValue, deviceGroupOf } from './experiment-groups.ts';
import { findNumberedExperiment } from './experiment-table.ts';

export interface BreakdownQuery extends ExperimentQuery {
  /** `device`, or the name of a dimension. */
  readonly groupBy: string;
  /** Last closed day, as a day number. */
  readonly asOf: number;
}

type Sums = Record<keyof GroupSums, number>;
type SumsRow = Sums & { readonly group: number; readonly arm: number; readonly isMature: 0 | 1 };

interface Group {
  readonly number: number;
  readonly kind: GroupKind;
  readonly value: string | null;
}

/** A group for the sums of a whole arm. */
const totalGroup = 0;

const sumNames = [...groupSumNames, ...largeUnitSumNames];
/** `total` returns a floating-point number, because sums may exceed 64 bits. */
const sumsSql = sumNames.map((name) => `total(${toColumnName(name)}) AS ${name}`).join(', ');
const selectGroupSumsSql = `
  SELECT value AS "group", arm, day <= ? AS isMature, ${sumsSql}
  FROM experiment_group WHERE experiment = ? AND value = ? AND day <= ? GROUP BY arm, isMature`;
const selectTotalSumsSql = `
  SELECT ${totalGroup} AS "group", arm, day <= ? AS isMature, ${sumsSql}
  FROM experiment_day WHERE experiment = ? AND day <= ? GROUP BY arm, isMature`;

const noSums = Object.fromEntries(sumNames.map((name) => [name, 0])) as Sums;

/** Whether results can be grouped by a name. */
function isGroupBy({ dimensions }: Pick<ExperimentDefinition, 'dimensions'>, groupBy: string): boolean {
  return groupBy === 'device' || dimensions.includes(groupBy);
}

/**
 * Reads the figures of the groups of an experiment up to the day `asOf`: device classes in their order, or values in the order of their first
 * session, then `none` and `other`. Groups without sessions are left out. Returns null if the tenant has no experiment with the name, or if it
 * cannot be grouped by `groupBy`.
 */
export function readBreakdown(
  database: SqlDatabase,
  { groupBy, asOf, ...query }: BreakdownQuery,
): GroupFigures[] | null {
  const found = findNumberedExperiment(database, query);
  if (found === null || !isGroupBy(found.experiment.definition, groupBy)) return null;
  const { number, experiment } = found;
  const { definition } = experiment;
  // The sums of an earlier definition are not those of the experiment.
  if (readFill(database, number)?.day === deletingCursor.day) return [];
  const matureDay = lastMatureCohortDay(definition, asOf);
  const groups = groupBy === 'device' ? listDevices() : listValues(database, number, groupBy);
  const totals = database.objects<SumsRow>(selectTotalSumsSql, [matureDay, number, asOf]);
  const others = Object.fromEntries(totals.map((row) => [rowKey(row), row]));
  const figures = groups.map((group): GroupFigures => {
    const rows = database.objects<SumsRow>(selectGroupSumsSql, [matureDay, number, group.number, asOf]);
    for (const row of rows) subtractSums(others[rowKey(row)], row);
    return { kind: group.kind, value: group.value, arms: toArms(definition, rows) };
  });
  figures.push({ kind: 'other', value: null, arms: toArms(definition, Object.values(others)) });
  return figures.filter(({ arms }) => arms.some(({ sessions }) => sessions > 0));
}

function listDevices(): Group[] {
  return deviceClasses.map((value, device) => ({ number: deviceGroupOf(device), kind: 'value', value }));
}

function listValues(database: SqlDatabase, experiment: number, dimension: string): Group[] {
  // The row without a key is the first. While earlier sessions are counted, the store may contain more values.
  const rows = database.rows<[number: number, value: string]>(
    `SELECT number, value FROM experiment_value WHERE experiment = ? AND dimension = ?
      ORDER BY value <> '${absentValue}', first_position LIMIT ?`,
    [experiment, dimension, bounds.dimensionValuesMax + 1],
  );
  const groups = rows.map(([number, json]): Group => {
    const value = JSON.parse(json) as string | null;
    return { number, kind: value === null ? 'none' : 'value', value };
  });
  const values = groups.filter(({ kind }) => kind === 'value').slice(0, bounds.dimensionValuesMax);
  return [...values, ...groups.filter(({ kind }) => kind === 'none')];
}

function rowKey({ arm, isMature }: SumsRow): string {
  return `${arm} ${isMature}`;
}

function subtractSums(sums: SumsRow | undefined, subtrahend: SumsRow): void {
  if (sums === undefined) return;
  // Rounded sums can differ a little.
  for (const name of sumNames) sums[name] = Math.max(0, sums[name] - subtrahend[name]);
}

function toArms({ arms }: ExperimentDefinition, rows: readonly SumsRow[]): GroupArmFigures[] {
  return arms.map((_, arm) => {
    const [young, mature] = ([0, 1] as const).map(
      (isMature): Sums => rows.find((row) => row.arm === arm && row.isMature === isMature) ?? noSums,
    ) as [Sums, Sums];
    const sum = (name: keyof Sums) => young[name] + mature[name];
    return {
      sessions: sum('sessions'),
      units: sum('units'),
      views: sum('views'),
      clicks: sum('clicks'),
      attributedMicros: sum('attributedMicros'),
      confirmedMicros: sum('confirmedMicros'),
      mature: {
        sessions: mature.sessions,
        units: mature.units,
        unitsWithRevenue: mature.unitsWithRevenue,
        revenueMicros: mature.revenueMicros,
        revenueCentsSquared: mature.revenueCentsSquared,
        revenueMicrosTimesSessions: mature.revenueMicrosTimesSessions,
        sessionsSquared: mature.sessionsSquared,
      },
    };
  });
}
