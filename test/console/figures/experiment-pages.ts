import { bounds } from '../../../src/bounds.ts';
import type { ExperimentResponse } from '../../../src/index.ts';
import {
  formatCount,
  formatPValue,
  formatUsdPerUnit,
  formatUtcDay,
  formatUtcTime,
} from '../../../src/web/console/common/format.ts';
import { decisionWordOf, describeStatus, outcomeWords } from '../../../src/web/console/partner/experiment-words.ts';
import { nameArm, type Results } from './arm-names.ts';
import { type FigurePage, plot, table } from './expected-page.ts';
import * as tables from './experiment-tables.ts';

interface Experiment {
  readonly definition: ExperimentResponse;
  readonly results: Results;
}

/** Plot of the differences, from the first day with a difference; null before. */
function differencePlot(results: Results) {
  const { series = [], comparisons } = results;
  const first = series.find(({ difference }) => difference !== null)?.as_of;
  if (first === undefined) return null;
  const points = [
    ...Map.groupBy(
      series.filter(({ as_of }) => as_of >= first),
      ({ as_of }) => as_of,
    ),
  ];
  type Day = (typeof points)[number];
  return plot({
    title: 'Difference from the control, USD per session',
    points,
    axis: 'Day',
    x: ([day]) => day,
    format: formatUsdPerUnit,
    lines: comparisons.map(({ arm }) => {
      const figure =
        (member: 'difference' | 'low' | 'high') =>
        ([, looks]: Day) =>
          looks.find((look) => look.arm === arm)?.[member] ?? null;
      return { label: nameArm(results, arm), value: figure('difference'), low: figure('low'), high: figure('high') };
    }),
  });
}

/** Plot of the revenue by the age of sessions; null without revenue. */
function agePlot({ arms }: Results) {
  const weeks = Math.max(0, ...arms.map(({ revenue_by_age: ages = [] }) => ages.length));
  if (weeks === 0) return null;
  return plot<number>({
    title: 'Revenue per session by age of the session',
    points: Array.from({ length: weeks }, (_, index) => index),
    axis: 'Weeks since the session',
    x: (index) => index + 1,
    format: formatUsdPerUnit,
    lines: arms.map(({ label, referrer_tag: tag, revenue_by_age: ages }) => ({
      label: label ?? tag,
      value: (index) => ages?.[index]?.revenue_per_session ?? null,
    })),
  });
}

function listFacts({ definition, results }: Experiment): Record<string, string> {
  const { state, as_of: asOf, planned_day: plannedDay, left_out: leftOut, split_check: split } = results;
  const { closing } = definition;
  const isPlanOpen = plannedDay !== null && (state === 'running' || state === 'maturing');
  return {
    State: describeStatus(results, closing).text,
    'Results up to': formatUtcDay(asOf),
    'First day': formatUtcDay(definition.starts_on),
    'Last day': definition.ends_on === null ? 'no planned end' : formatUtcDay(definition.ends_on),
    ...(plannedDay !== null && { 'Planned day': formatUtcDay(plannedDay) }),
    ...(isPlanOpen && { 'Days to the planned day': String((Date.parse(plannedDay) - Date.parse(asOf)) / 86_400_000) }),
    Control: nameArm(results, results.control),
    Unit: definition.assignment === 'hash' ? 'visitor, assigned by hash' : definition.unit,
    ...(definition.cap_usd !== null && {
      'Largest revenue of a session that counts': `${definition.cap_usd} USD`,
    }),
    'Left out': `${formatCount(leftOut.bots)} bots, ${formatCount(leftOut.outside_dates)} outside the dates, ${formatCount(leftOut.no_unit)} without visitor id`,
    'p value of one look (chi-square)': formatPValue(split.chi_square_p),
    ...(split.assignment_mismatches !== null && {
      'Sessions with another arm than assigned': formatCount(split.assignment_mismatches),
    }),
    ...(closing !== null && {
      Outcome: outcomeWords[closing.outcome].text,
      ...(closing.arm !== null && { Arm: nameArm(results, closing.arm) }),
      Closed: formatUtcTime(closing.closed_at),
      ...(closing.note !== null && { Note: closing.note }),
    }),
  };
}

const listPlanned = ({ comparisons }: Results) =>
  comparisons.filter(({ planning, decided_on: decidedOn }) => planning !== null && decidedOn === null);

/** Sentences about the size of an experiment that has a smallest difference that matters. */
function listPlanTexts({ definition, results }: Experiment): string[] {
  const planned = listPlanned(results);
  if (definition.min_effect_percent === null || planned.length === 0) return [];
  return [
    `Needed to find a difference of ${definition.min_effect_percent} % in 80 of 100 experiments, at the present number of sessions per day:`,
    ...planned.flatMap(({ arm, planning }) =>
      planning!.smallest_effect_percent === null
        ? []
        : `By the planned day, only a difference of at least ${planning!.smallest_effect_percent.toFixed(0)} % is likely to be found for ${nameArm(results, arm)}.`,
    ),
  ];
}

function listTexts(experiment: Experiment): string[] {
  const { definition, results } = experiment;
  const { sentence, comparisons, warnings, unit, as_of: asOf, breakdown, arms } = results;
  const [differences, ages] = [differencePlot(results), agePlot(results)];
  const units = unit === 'visitor' ? 'Visitors' : 'Sessions';
  return [
    definition.hypothesis ?? '',
    sentence,
    ...(comparisons.length > 1
      ? comparisons.map(
          ({ arm, decision, sentence: own }) =>
            `${decisionWordOf(decision, results.state).text} ${nameArm(results, arm)}: ${own}`,
        )
      : []),
    ...warnings,
    differences?.reading ??
      `There is no comparison yet. The comparison begins when each arm has ${bounds.unitsWithRevenueMin} ${unit}s with revenue and ${bounds.matureDaysMin} days with mature sessions.`,
    ...listPlanTexts(experiment),
    ...(arms.some(({ funnel }) => funnel !== undefined)
      ? [
          `${units} by how far they got, up to the end of ${formatUtcDay(asOf)}. Recent ${unit}s still lack confirmed revenue. Percentages refer to all ${unit}s of the arm.`,
        ]
      : []),
    ...(ages === null
      ? []
      : [
          `Revenue per session that was confirmed within the first weeks of a session. Revenue counts if it occurred within ${definition.revenue_days} days. Later weeks have fewer sessions, so this plot is no comparison of the arms.`,
          ages.reading,
        ]),
    breakdown?.warning ?? '',
  ];
}

function listTables({ definition, results }: Experiment) {
  const { arms, guardrails, breakdown, unit } = results;
  const planned = definition.min_effect_percent === null ? [] : listPlanned(results);
  return {
    'Mature revenue: sessions whose revenue is complete': table(arms, tables.matureColumns(results)),
    'All sessions so far': table(arms, tables.trafficColumns(results)),
    ...(arms.some(({ early_read: read }) => read !== null) && {
      'Predicted final revenue of the sessions so far': table(arms, tables.earlyReadColumns(results)),
    }),
    'Units of each arm': table(arms, tables.splitColumns(results)),
    ...(planned.length > 0 && { 'Units and days that are missing': table(planned, tables.planningColumns(results)) }),
    Funnel: table(arms, tables.funnelColumns(unit)),
    Guardrails: table(guardrails, tables.guardrailColumns(results)),
    ...(breakdown !== undefined && {
      [`Breakdown by ${breakdown.group_by}`]: table(
        breakdown.groups.flatMap((group) => group.arms.map((arm) => ({ group, arm }))),
        tables.breakdownColumns(results),
      ),
    }),
  };
}

/** Page of an experiment, with a breakdown if `groupBy` is the name of a dimension. */
export function experimentPage(experiment: string, groupBy?: string): FigurePage {
  return {
    name: ['experiment', experiment, ...(groupBy === undefined ? [] : ['by', groupBy])].join('-'),
    place: `#/experiments/${experiment}${groupBy === undefined ? '' : `?group_by=${groupBy}`}`,
    async expect({ partner }) {
      const definition = await partner<ExperimentResponse>(`experiments/${experiment}`);
      const group = groupBy === undefined ? '' : `&group_by=${groupBy}`;
      const results = await partner<Results>(`experiments/${experiment}/results?series=true${group}`);
      const plots = [differencePlot(results), agePlot(results)].filter((each) => each !== null);
      return {
        figures: listFacts({ definition, results }),
        tables: listTables({ definition, results }),
        texts: listTexts({ definition, results }),
        plots,
      };
    },
  };
}
