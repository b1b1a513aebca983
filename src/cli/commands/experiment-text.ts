import { Help } from 'commander';
import { escapeInvisibleCharacters, toDisplayText } from '../../domain/text.ts';
import type { ExperimentResponse } from '../../operations/experiments/experiment-schemas.ts';
import type { ExperimentResultsResponse } from '../../operations/experiments/get-experiment-results.ts';
import { type Column, formatNameValuePairs, formatRows } from '../output.ts';

type ArmResults = ExperimentResultsResponse['arms'][number];
type ComparisonResults = ExperimentResultsResponse['comparisons'][number];

/** Width of a terminal without a known width. */
const lineWidth = 80;
const groupWidthMax = 20;

/** Formats results for a terminal: the sentence, a table of the arms, a table of the comparisons, and the warnings. */
export function formatResults(results: ExperimentResultsResponse): string {
  const { arms, comparisons, control, unit } = results;
  const nameOf = (tag: string) => displayName(arms.find(({ referrer_tag }) => referrer_tag === tag)!);
  const planned = results.planned_day === null ? '' : `, planned day ${results.planned_day}`;
  const armColumns: Column<ArmResults>[] = [
    ['SESSIONS', (arm) => arm.sessions],
    ...(unit === 'visitor' ? [['VISITORS', (arm) => arm.units] satisfies Column<ArmResults>] : []),
    ['MATURE', (arm) => arm.mature_units],
    ['WITH REVENUE', (arm) => arm.units_with_revenue],
    ['USD/SESSION', (arm) => formatNumber(arm.revenue_per_session)],
  ];
  const comparisonColumns: Column<ComparisonResults>[] = [
    ['DECISION', (comparison) => comparison.decision],
    ['USD/SESSION', ({ difference }) => formatNumber(difference?.value ?? null, '+')],
    ['INTERVAL', ({ difference }) => (difference === null ? '-' : formatInterval(difference.low, difference.high))],
    [
      'PERCENT',
      ({ relative }) =>
        relative === null ? '-' : `${relative.value > 0 ? '+' : ''}${(relative.value * 100).toFixed(1)}`,
    ],
    ['P VALUE', ({ p_value: p }) => (p !== null && p < 0.0001 ? '<0.0001' : formatNumber(p))],
  ];
  return [
    wrap(`${results.name}: ${results.decision} (${results.state}, results up to ${results.as_of} UTC${planned})`),
    wrap(results.sentence),
    `${formatArmRows(armColumns, arms, (arm) => `${arm.referrer_tag === control ? '* ' : '  '}${displayName(arm)}`)}\n* control`,
    formatArmRows(comparisonColumns, comparisons, ({ arm }) => arm),
    [
      'Warnings:',
      ...listProblems(results, nameOf).map((problem) => wrap(`- ${problem}`).replaceAll('\n', '\n  ')),
    ].join('\n'),
    ...(results.breakdown === undefined ? [] : [formatBreakdown(results.breakdown)]),
  ].join('\n\n');
}

/** Formats a table with a row for each group and arm. */
function formatBreakdown({
  group_by: groupBy,
  warning,
  groups,
}: NonNullable<ExperimentResultsResponse['breakdown']>): string {
  const rows = groups.flatMap(({ kind, value, arms, comparisons }) =>
    arms.map((arm) => ({
      group: value === null ? `(${kind})` : toDisplayText(value),
      arm,
      difference: comparisons.find((comparison) => comparison.arm === arm.referrer_tag)?.difference ?? null,
    })),
  );
  const columns: Column<(typeof rows)[number]>[] = [
    ['GROUP', ({ group }) => shorten(group, groupWidthMax)],
    ['SESSIONS', ({ arm }) => arm.sessions],
    ['WITH REVENUE', ({ arm }) => arm.units_with_revenue],
    ['USD/SESSION', ({ arm }) => formatNumber(arm.revenue_per_session)],
    ['INTERVAL', ({ difference }) => (difference === null ? '-' : formatInterval(difference.low, difference.high))],
  ];
  const table = formatArmRows(columns, rows, ({ arm }) => arm.referrer_tag);
  return `${wrap(`By ${toDisplayText(groupBy)}. ${warning}`)}\n${table}`;
}

/** Formats rows with the name of the arm in a last column, whose cells are shortened to the rest of the line. */
function formatArmRows<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  nameOf: (row: Row) => string,
): string {
  const used = columns.reduce(
    (sum, [heading, cell]) => sum + 2 + Math.max(heading.length, ...rows.map((row) => String(cell(row)).length)),
    0,
  );
  return formatRows([...columns, ['ARM', (row) => shorten(nameOf(row), lineWidth - used)]], rows);
}

function displayName({ label, referrer_tag: tag }: ArmResults): string {
  return label === null || label === tag ? tag : escapeInvisibleCharacters(`${label} (${tag})`);
}

/** Shortens a text in the middle, because the tags of an experiment often differ at the end only. */
function shorten(text: string, lengthMax: number): string {
  const characters = [...text];
  if (characters.length <= lengthMax) return text;
  const kept = lengthMax - '...'.length;
  return `${characters.slice(0, Math.ceil(kept / 2)).join('')}...${characters.slice(-Math.floor(kept / 2)).join('')}`;
}

function listProblems(
  { warnings, split_check: split, guardrails }: ExperimentResultsResponse,
  nameOf: (tag: string) => string,
): string[] {
  const problems = [...warnings];
  if (split.invalid) problems.push('The arms did not get the intended numbers of units.');
  if (split.assignment_mismatches !== null && split.assignment_mismatches > 0)
    problems.push(
      `${split.assignment_mismatches} sessions have the tag of another arm than the one assigned to their visitor.`,
    );
  for (const { arm, name, control, value, low, high, word } of guardrails) {
    if (word === 'worse')
      problems.push(
        `${name} of ${nameOf(arm)} is worse: ${formatNumber(value)}, and ${formatNumber(control)} in the control (difference ${formatInterval(low!, high!)}).`,
      );
  }
  return problems.length > 0 ? problems : ['none: the split is as intended, and no guardrail is worse'];
}

function formatInterval(low: number, high: number): string {
  return `${formatNumber(low)} to ${formatNumber(high)}`;
}

/** Formats a number with four decimals, because arms may differ by less than a cent per session; null as `-`. */
function formatNumber(value: number | null, sign: '+' | '' = ''): string {
  return value === null ? '-' : `${value > 0 ? sign : ''}${value.toFixed(4)}`;
}

function wrap(text: string): string {
  return new Help().boxWrap(escapeInvisibleCharacters(text), lineWidth);
}

/** JSON members of an experiment in the help of commands. */
export const experimentJsonMembers =
  'as in the API (docs/contract.md#definition-of-an-experiment): name, state, arms, control, unit, assignment, starts_on, ends_on, ' +
  'min_effect_percent, cap_usd, hypothesis, dimensions, planned_day, retrospective, revenue_days, grace_days, created_at, deleted, closing';

/** Columns of the list of experiments. */
export const experimentColumns: readonly Column<ExperimentResponse>[] = [
  ['STATE', ({ state }) => state, 8],
  ['FIRST DAY', ({ starts_on }) => starts_on, 10],
  ['LAST DAY', ({ ends_on }) => ends_on ?? '-', 10],
  ['PLANNED', ({ planned_day }) => planned_day ?? '-', 10],
  ['UNIT', ({ unit }) => unit, 7],
  ['ARMS', ({ arms }) => arms.length, 4],
  ['NAME', ({ name }) => name],
];

const armColumns = (control: string): readonly Column<ExperimentResponse['arms'][number]>[] => [
  ['ARM', ({ referrer_tag }) => referrer_tag],
  ['WEIGHT', ({ weight }) => weight],
  ['LABEL', ({ label }) => (label === null ? '-' : toDisplayText(label))],
  ['', ({ referrer_tag }) => (referrer_tag === control ? 'control' : '')],
];

/** Formats the definition and the state of an experiment for a terminal. */
export function formatExperiment(experiment: ExperimentResponse): string {
  const { closing, ends_on: endsOn, planned_day: plannedDay, min_effect_percent: effect, cap_usd: cap } = experiment;
  const pairs: (readonly [string, string])[] = [
    ['name', experiment.name],
    ['state', experiment.deleted ? `${experiment.state}, deleted` : experiment.state],
    [
      'days',
      `${experiment.starts_on} to ${endsOn ?? 'an open end'}, UTC${experiment.retrospective ? ', retrospective' : ''}`,
    ],
    ['planned day', plannedDay ?? '-'],
    ['unit', experiment.assignment === 'hash' ? `${experiment.unit}, assigned by hash` : experiment.unit],
    ['revenue', `of ${experiment.revenue_days} days, confirmed within ${experiment.grace_days} more days`],
    ['created', experiment.created_at],
  ];
  if (effect !== null) pairs.push(['min. effect', `${effect} %`]);
  if (cap !== null) pairs.push(['cap', `${cap} USD per session`]);
  if (experiment.hypothesis !== null) pairs.push(['hypothesis', toDisplayText(experiment.hypothesis)]);
  if (experiment.dimensions.length > 0) pairs.push(['dimensions', experiment.dimensions.map(toDisplayText).join(', ')]);
  if (closing !== null) {
    const about = closing.arm === null ? '' : ` ${closing.arm}`;
    pairs.push([
      'closed',
      `${closing.closed_at} by ${closing.closed_by ?? 'an unknown key'}: ${closing.outcome}${about}`,
    ]);
    if (closing.note !== null) pairs.push(['note', toDisplayText(closing.note)]);
  }
  return `${formatNameValuePairs(pairs, 13)}\n\n${formatRows(armColumns(experiment.control), experiment.arms)}`;
}
