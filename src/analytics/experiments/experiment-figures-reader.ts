import { countUnitsToMeasure } from '../../experiments/concentration.ts';
import type { Experiment, ExperimentDefinition } from '../../experiments/experiment.ts';
import { lastMatureCohortDay } from '../../experiments/experiment.ts';
import type {
  ArmDay,
  EventSums,
  ExperimentFigures,
  LeftOutSessions,
  RevenueAge,
} from '../../experiments/experiment-figures.ts';
import { largeUnitSumNames, unitSumNames } from '../../experiments/unit-sums.ts';
import { deviceClasses } from '../../ledger/ledger-record.ts';
import type { ExperimentQuery } from '../analytics.ts';
import { type SqlDatabase, type SqlValue, toColumnName } from '../sql-database.ts';
import { findTagNumber } from '../tags-reader.ts';
import { deletingCursor, readFill } from './counted-experiments.ts';
import { findNumberedExperiment } from './experiment-table.ts';

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
/** Columns of a row of `selectDaysSql`: the arm, the day, then the sums. Sums beyond the safe integers are rounded. */
type DayRow = readonly number[];
const sumColumns = Object.fromEntries(sumNames.map((name, index) => [name, index + 2])) as Record<
  (typeof sumNames)[number],
  number
>;

// Thousands of rows are read as arrays, because reading them as objects takes twice as long.
const selectDaysSql = `
  SELECT arm, day, ${sumNames.map(toColumnName).join(', ')}
  FROM experiment_day WHERE experiment = ? AND day <= ? AND sessions > 0 ORDER BY day, arm`;

type AgeRow = readonly [arm: number, day: number, ageWeeks: number, revenueMicros: number];
const selectAgesSql = `
  SELECT arm, day, age_weeks, revenue_micros
  FROM experiment_age WHERE experiment = ? AND day <= ? AND revenue_micros <> 0 ORDER BY day, arm, age_weeks`;

/** Figures of a unit are the sums of its mature days. A null as arm selects all arms. */
const selectRevenuesSql = `
  SELECT arm, total(revenue_micros) AS revenueMicros, sum(sessions) AS sessions
  FROM experiment_revenue WHERE experiment = ? AND day <= ? AND arm = ifnull(?, arm) GROUP BY unit HAVING revenueMicros > 0`;
const selectLargestVisitorsSql = `${selectRevenuesSql} ORDER BY revenueMicros DESC LIMIT ?`;
/** A session has only one row. The index has the rows in this order. */
const selectLargestSessionsSql = `
  SELECT arm, revenue_micros AS revenueMicros, 1 AS sessions
  FROM experiment_revenue WHERE experiment = ? AND day <= ? AND arm = ifnull(?, arm) ORDER BY revenue_micros DESC LIMIT ?`;

/** Reads the figures of an experiment up to the day `asOf`. Returns null if the tenant has no experiment with the name. */
export function readExperimentFigures(
  database: SqlDatabase,
  { asOf, units = 'all', ...query }: ExperimentFiguresQuery,
): ExperimentWithFigures | null {
  const found = findNumberedExperiment(database, query);
  if (found === null) return null;
  const { number, experiment } = found;
  const { definition } = experiment;
  const fill = readFill(database, number);
  // Null selects no rows: the sums of an earlier definition are not those of the experiment.
  const counted = fill?.day === deletingCursor.day ? null : number;
  const matureDay = lastMatureCohortDay(definition, asOf);
  const tags = definition.arms.flatMap(({ referrerTag }) => findTagNumber(database, query, referrerTag) ?? []);
  const days = database.rows<DayRow>(selectDaysSql, [counted, asOf]).map(toArmDay);
  return {
    experiment,
    figures: {
      asOf,
      fillProgress: fill && readFillProgress(database, fill.day, definition, tags),
      days,
      ages: database.rows<AgeRow>(selectAgesSql, [counted, asOf]).map(toRevenueAge),
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
  const sql = definition.unit === 'session' ? selectLargestSessionsSql : selectLargestVisitorsSql;
  const read = (arm: number | null, limit: number) =>
    database.objects<ExperimentFigures['unitsWithRevenue'][number]>(sql, [experiment, matureDay, arm, limit]);
  const largest = read(null, countUnitsToMeasure(definition, figures));
  const others = [...definition.arms.keys()].filter((arm) => largest.every((unit) => unit.arm !== arm));
  return [...largest, ...others.flatMap((arm) => read(arm, 1))];
}

function toArmDay(row: DayRow): ArmDay {
  const sum = (name: (typeof sumNames)[number]) => row[sumColumns[name]]!;
  const events = (count: number, squared: number, product: number, unitsWithEvents: number): EventSums => {
    return { count, squared, product, unitsWithEvents };
  };
  return {
    arm: row[0]!,
    day: row[1]!,
    sums: {
      sessions: sum('sessions'),
      units: sum('units'),
      unitsWithRevenue: sum('unitsWithRevenue'),
      revenueMicros: sum('revenueMicros'),
      revenueCentsSquared: sum('revenueCentsSquared'),
      revenueMicrosTimesSessions: sum('revenueMicrosTimesSessions'),
      sessionsSquared: sum('sessionsSquared'),
    },
    views: sum('views'),
    attributedMicros: sum('attributedMicros'),
    confirmedMicros: sum('confirmedMicros'),
    afterConfirmedMicros: sum('afterConfirmedMicros'),
    afterReversedMicros: sum('afterReversedMicros'),
    clicks: events(sum('clicks'), sum('clicksSquared'), sum('clicksTimesSessions'), sum('unitsWithClicks')),
    inputs: events(sum('inputs'), sum('inputsSquared'), sum('inputsTimesSessions'), sum('unitsWithInputs')),
    errors: events(sum('errors'), sum('errorsSquared'), sum('errorsTimesSessions'), sum('unitsWithErrors')),
    reversals: events(
      sum('reversals'),
      sum('reversalsSquared'),
      sum('reversalsTimesPayouts'),
      sum('unitsWithReversals'),
    ),
    payouts: sum('payouts'),
    payoutsSquared: sum('payoutsSquared'),
    unitsInSeveralArms: sum('unitsInSeveralArms'),
    assignmentMismatches: sum('assignmentMismatches'),
  };
}

function toRevenueAge([arm, day, ageWeeks, revenueMicros]: AgeRow): RevenueAge {
  return { arm, day, ageWeeks, revenueMicros };
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
