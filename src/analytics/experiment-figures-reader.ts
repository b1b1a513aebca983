import { countUnitsToMeasure } from '../experiments/concentration.ts';
import type { Experiment, ExperimentDefinition } from '../experiments/experiment.ts';
import { lastMatureCohortDay } from '../experiments/experiment.ts';
import type {
  ArmDay,
  EventSums,
  ExperimentFigures,
  LeftOutSessions,
  RevenueAge,
} from '../experiments/experiment-figures.ts';
import { largeUnitSumNames, unitSumNames } from '../experiments/unit-sums.ts';
import { deviceClasses } from '../ledger/ledger-record.ts';
import type { ExperimentQuery } from './analytics.ts';
import { deletingCursor } from './counted-experiments.ts';
import { findExperiment, tenantColumns } from './experiment-table.ts';
import { type SqlDatabase, type SqlValue, toColumnName } from './sql-database.ts';

export interface ExperimentFiguresQuery extends ExperimentQuery {
  /** Last closed day, as a day number. */
  readonly asOf: number;
  /**
   * Units in `unitsWithRevenue`: all (the default), none, or only the largest that `capRevenue` needs, and one of each other arm. Reading the
   * units takes longer than everything else, and all units of a large experiment take hundreds of megabytes.
   */
  readonly units?: 'all' | 'largest' | 'none';
}

export interface ExperimentWithFigures {
  readonly experiment: Experiment;
  readonly figures: ExperimentFigures;
}

const sumNames = [...unitSumNames, ...largeUnitSumNames];
/** A row of `experiment_day`. Sums beyond the safe integers are rounded. */
type DayRow = Record<(typeof sumNames)[number] | 'arm' | 'day', number>;

const selectDaysSql = `
  SELECT arm, day, ${sumNames.map((name) => `${toColumnName(name)} AS ${name}`).join(', ')}
  FROM experiment_day WHERE experiment = ? AND day <= ? AND sessions > 0 ORDER BY day, arm`;

const selectAgesSql = `
  SELECT arm, day, age_weeks AS ageWeeks, revenue_micros AS revenueMicros
  FROM experiment_age WHERE experiment = ? AND day <= ? AND revenue_micros <> 0 ORDER BY day, arm, age_weeks`;

/** Figures of a unit are the sums of its mature days. A null as arm selects all arms. */
const selectRevenuesSql = `
  SELECT arm, sum(revenue_micros) AS revenueMicros, sum(sessions) AS sessions
  FROM experiment_revenue WHERE experiment = ? AND day <= ? AND arm = ifnull(?, arm) GROUP BY unit HAVING sum(revenue_micros) > 0`;
const selectLargestSql = `${selectRevenuesSql} ORDER BY revenueMicros DESC LIMIT ?`;

/** Reads the figures of an experiment up to the day `asOf`. Returns null if the tenant has no experiment with the name. */
export function readExperimentFigures(
  database: SqlDatabase,
  { asOf, units = 'all', ...query }: ExperimentFiguresQuery,
): ExperimentWithFigures | null {
  const experiment = findExperiment(database, query);
  if (experiment === null) return null;
  const { definition } = experiment;
  const number = database.value<number>(
    'SELECT number FROM experiment WHERE account = ? AND vertical = ? AND test = ? AND name = ?',
    [...tenantColumns(query), query.name],
  )!;
  const fillDay = database.value<number>('SELECT day FROM experiment_fill WHERE experiment = ?', [number]);
  // Null selects no rows: the sums of an earlier definition are not those of the experiment.
  const counted = fillDay === deletingCursor.day ? null : number;
  const matureDay = lastMatureCohortDay(definition, asOf);
  const tags = readTagNumbers(database, query, definition);
  const days = database.objects<DayRow>(selectDaysSql, [counted, asOf]).map(toArmDay);
  return {
    experiment,
    figures: {
      asOf,
      fillProgress: fillDay === null ? null : readFillProgress(database, fillDay, definition, tags),
      days,
      ages: database.objects<RevenueAge>(selectAgesSql, [counted, asOf]),
      unitsWithRevenue:
        units === 'all'
          ? database.objects(selectRevenuesSql, [counted, matureDay, null])
          : units === 'largest'
            ? readLargestUnits(database, counted, definition, { asOf, days })
            : [],
      leftOut: readLeftOut(database, counted, definition, { tags, asOf }),
    },
  };
}

/** Reads the largest units that `capRevenue` needs, and the largest unit of each arm that has none of them. */
function readLargestUnits(
  database: SqlDatabase,
  experiment: number | null,
  definition: ExperimentDefinition,
  figures: Pick<ExperimentFigures, 'asOf' | 'days'>,
): ExperimentFigures['unitsWithRevenue'] {
  const matureDay = lastMatureCohortDay(definition, figures.asOf);
  const read = (arm: number | null, limit: number) =>
    database.objects<ExperimentFigures['unitsWithRevenue'][number]>(selectLargestSql, [
      experiment,
      matureDay,
      arm,
      limit,
    ]);
  const largest = read(null, countUnitsToMeasure(definition, figures));
  const others = [...definition.arms.keys()].filter((arm) => largest.every((unit) => unit.arm !== arm));
  return [...largest, ...others.flatMap((arm) => read(arm, 1))];
}

function toArmDay(row: DayRow): ArmDay {
  const events = (count: number, squared: number, product: number, unitsWithEvents: number): EventSums => {
    return { count, squared, product, unitsWithEvents };
  };
  return {
    arm: row.arm,
    day: row.day,
    sums: {
      sessions: row.sessions,
      units: row.units,
      unitsWithRevenue: row.unitsWithRevenue,
      revenueMicros: row.revenueMicros,
      revenueCentsSquared: row.revenueCentsSquared,
      revenueMicrosTimesSessions: row.revenueMicrosTimesSessions,
      sessionsSquared: row.sessionsSquared,
    },
    views: row.views,
    attributedMicros: row.attributedMicros,
    confirmedMicros: row.confirmedMicros,
    afterConfirmedMicros: row.afterConfirmedMicros,
    afterReversedMicros: row.afterReversedMicros,
    clicks: events(row.clicks, row.clicksSquared, row.clicksTimesSessions, row.unitsWithClicks),
    inputs: events(row.inputs, row.inputsSquared, row.inputsTimesSessions, row.unitsWithInputs),
    errors: events(row.errors, row.errorsSquared, row.errorsTimesSessions, row.unitsWithErrors),
    reversals: events(row.reversals, row.reversalsSquared, row.reversalsTimesPayouts, row.unitsWithReversals),
    payouts: row.payouts,
    payoutsSquared: row.payoutsSquared,
    unitsInSeveralArms: row.unitsInSeveralArms,
    assignmentMismatches: row.assignmentMismatches,
  };
}

/** Returns the numbers of the arms' tags that have sessions. */
function readTagNumbers(database: SqlDatabase, query: ExperimentQuery, { arms }: ExperimentDefinition): number[] {
  const sql = 'SELECT number FROM referrer_tag WHERE account = ? AND vertical = ? AND test = ? AND tag = ?';
  return arms.flatMap(({ referrerTag }) => {
    const number = database.value<number>(sql, [...tenantColumns(query), referrerTag]);
    return number === null ? [] : [number];
  });
}

function readLeftOut(
  database: SqlDatabase,
  experiment: number | null,
  { startsOn, endsOn }: ExperimentDefinition,
  { tags, asOf }: { readonly tags: readonly number[]; readonly asOf: number },
): LeftOutSessions {
  const lastDay = Math.min(asOf, endsOn ?? asOf);
  const sum = (sql: string, parameters: readonly SqlValue[]) => database.value<number>(sql, parameters) ?? 0;
  const sessionsSql = 'SELECT sum(sessions) FROM day_counter WHERE tag_number = ?';
  const leftOut = { bots: 0, outsideDates: 0 };
  for (const tag of tags) {
    const bot = deviceClasses.indexOf('bot');
    leftOut.bots += sum(`${sessionsSql} AND day BETWEEN ? AND ? AND device = ?`, [tag, startsOn, lastDay, bot]);
    leftOut.outsideDates +=
      sum(`${sessionsSql} AND day < ? AND day <= ?`, [tag, startsOn, asOf]) +
      sum(`${sessionsSql} AND day > ? AND day <= ?`, [tag, lastDay, asOf]);
  }
  const noUnit = sum('SELECT sum(no_unit) FROM experiment_day WHERE experiment = ? AND day <= ?', [experiment, asOf]);
  return { ...leftOut, noUnit };
}

/** Returns the share of the earlier sessions that are counted, by the numbers of sessions of the days before that of the last counted one. */
function readFillProgress(
  database: SqlDatabase,
  fillDay: number,
  { startsOn, endsOn }: ExperimentDefinition,
  tags: readonly number[],
): number {
  let [counted, total] = [0, 0];
  for (const tag of tags) {
    const [countedSessions, sessions] = database.row<[number, number]>(
      `SELECT ifnull(sum(iif(day < ?, sessions, 0)), 0), ifnull(sum(sessions), 0)
        FROM day_counter WHERE tag_number = ? AND day BETWEEN ? AND ?
          AND day >= (SELECT kept_from_day FROM retention)`,
      [fillDay, tag, startsOn, endsOn ?? Number.MAX_SAFE_INTEGER],
    )!;
    counted += countedSessions;
    total += sessions;
  }
  return total === 0 ? 0 : counted / total;
}
