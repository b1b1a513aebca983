import Type from 'typebox';
import type { Analytics, CohortFilter } from '../../analytics/analytics.ts';
import { lastMaturedCohortDay } from '../../analytics/counting-rules.ts';
import { bounds } from '../../bounds.ts';
import { daysSinceEpoch, formatIsoDate } from '../../domain/calendar.ts';
import type { Clock } from '../../domain/clock.ts';
import { centsSquaredPerUsdSquared, microsToUsd } from '../../domain/money.ts';
import { nullableSchema } from '../../domain/nullable-schema.ts';
import type { Outcome } from '../../domain/outcome.ts';
import { isRetrospective, plannedDayOf } from '../../experiments/experiment.ts';
import { type DesignPlan, type PlanBasis, planDesign } from '../../experiments/plan-design.ts';
import { isReferrerTag } from '../../sessions/referrer-tags.ts';
import { defineOperation } from '../api-operation.ts';
import { refuseIfUnavailable } from '../query-analytics.ts';
import {
  ignoredParametersProperty,
  isoDateSchema,
  nonNegativeIntegerSchema,
  tagSchema,
  usdSchema,
  type ValueOf,
} from '../schema-parts.ts';
import { checkDefinition } from './define-experiment.ts';
import { toAnalyticsTenant } from './experiment-changes.ts';
import { definitionMembers, parseDefinition } from './experiment-definition.ts';
import { experimentNameMember } from './experiment-schemas.ts';

export interface PlanExperimentDeps {
  readonly analytics: Pick<Analytics, 'checkDefinition' | 'getSummary' | 'listDailyAnalytics'>;
  readonly clock: Clock;
  /** Value of `grace_days` of new experiments. */
  readonly confirmationGraceDays: number;
}

const nullablePercentSchema = (description: string) => nullableSchema(Type.Number({ minimum: 0, description }));

const basisSchema = Type.Object(
  {
    referrer_tag: tagSchema('The page whose figures the plan uses.'),
    from: nullableSchema(isoDateSchema('First day of its matured sessions.')),
    to: nullableSchema(isoDateSchema('Last day of its matured sessions.')),
    sessions: nonNegativeIntegerSchema('Its matured sessions.'),
    sessions_with_revenue: nullableSchema(nonNegativeIntegerSchema('Those with confirmed revenue; `null` if unknown.')),
    rev_per_session: nullableSchema(usdSchema('Mean confirmed revenue of its matured sessions')),
    sessions_per_day: Type.Number({
      minimum: 0,
      description: `Sessions of all arms together on each day: as requested, or the mean of the page in the last ${bounds.planRateDays} closed days.`,
    }),
  },
  { title: 'ExperimentPlanBasis' },
);

const armPlanSchema = Type.Object(
  {
    arm: tagSchema('The arm that is compared with the control.'),
    units_per_arm: nullableSchema(
      nonNegativeIntegerSchema('Mature units of the arm for a difference of `min_effect_percent`; `null` if unknown.'),
    ),
    found_on: nullableSchema(
      isoDateSchema(
        'The day by which a difference of `min_effect_percent` is likely to be found; `null` if it is not likely to be found, or unknown.',
      ),
    ),
    smallest_effect_percent: nullablePercentSchema(
      'The smallest difference, in percent, that is likely to be found by `planned_day`; `null` without it, or if unknown.',
    ),
  },
  { title: 'ExperimentArmPlan' },
);

const outlookSchema = Type.Object(
  {
    days: nonNegativeIntegerSchema('Days of sessions.'),
    ends_on: isoDateSchema('The last day of these sessions.'),
    planned_day: isoDateSchema('The planned day with this `ends_on`.'),
    smallest_effect_percent: Type.Number({
      minimum: 0,
      description:
        'The smallest difference, in percent, that is likely to be found by then, in the arm with the smallest share.',
    }),
  },
  { title: 'ExperimentOutlook' },
);

/** What an experiment will be able to find (docs/contract.md#plan-of-an-experiment). */
export type ExperimentPlanResponse = ValueOf<typeof planSchema>;
const planSchema = Type.Object(
  {
    name: experimentNameMember.schema,
    exists: Type.Boolean({
      description: 'Whether there is an experiment with this name, which the definition would change.',
    }),
    planned_day: nullableSchema(isoDateSchema('The day of the last comparison; `null` without `ends_on`.')),
    retrospective: Type.Boolean({
      description: 'Whether the experiment would decide nothing, as it starts before today.',
    }),
    first_comparison_on: nullableSchema(
      isoDateSchema('The first day on which a comparison is likely to be possible; `null` if none is, or unknown.'),
    ),
    basis: basisSchema,
    arms: Type.Array(armPlanSchema, { description: 'Each arm other than the control.' }),
    outlook: Type.Array(outlookSchema, {
      description: 'What the experiment finds if it has this last day. Empty if the page has too little revenue.',
    }),
    ...ignoredParametersProperty,
  },
  { title: 'ExperimentPlan' },
);

/** POST /experiments/{name}/plan (docs/contract.md#plan-of-an-experiment): checks a definition, and estimates what the experiment can find. */
export const planExperiment = defineOperation({
  id: 'planExperiment',
  method: 'POST',
  path: '/experiments/{name}/plan',
  limit: 'analytics',
  scope: 'analytics',
  summary: 'Plan an experiment',
  description:
    'Checks a definition as the definition of an experiment does, without storing it, and estimates from the figures of a page which ' +
    'differences the experiment will find, and when. Counts toward the limit of analytics queries.',
  parameters: { name: experimentNameMember },
  body: {
    title: 'ExperimentPlanRequest',
    members: {
      ...definitionMembers,
      based_on: {
        schema: Type.Optional(
          nullableSchema(tagSchema('The page whose figures the plan uses; by default the control.')),
        ),
        accepts: (value: unknown) => value === null || isReferrerTag(value),
      },
      expected_sessions_per_day: {
        schema: Type.Optional(
          nullableSchema(
            Type.Number({
              exclusiveMinimum: 0,
              maximum: bounds.plannedSessionsPerDayMax,
              description: 'Sessions of all arms together on each day; by default those of the page.',
            }),
          ),
        ),
      },
    },
    examples: { experiment: { recorded: 'planRequest' } },
  },
  response: {
    description: 'The plan.',
    schema: planSchema,
    examples: { plan: { recorded: 'experimentPlan' } },
  },
  errors: [],
  invalidParamExample: 'weight',
  async handle(
    { analytics, clock, confirmationGraceDays }: PlanExperimentDeps,
    { name, based_on: basedOn, expected_sessions_per_day: expectedPerDay, ...body },
    { caller, signal },
  ): Promise<Outcome<ExperimentPlanResponse>> {
    const parsed = parseDefinition(body, caller.vertical, confirmationGraceDays);
    if (!parsed.ok) return parsed;
    const nowMs = clock.wallMs();
    const today = daysSinceEpoch(nowMs);
    const tenant = toAnalyticsTenant(caller);
    const tags = parsed.value.arms.map(({ referrerTag }) => referrerTag);
    const check = await refuseIfUnavailable(() => analytics.checkDefinition({ ...tenant, name, tags, today }, signal));
    if (!check.ok) return check;
    const checked = checkDefinition(name, parsed.value, check.value, nowMs);
    if (!checked.ok) return checked;
    const experiment = checked.value;
    const filter = { ...tenant, referrerTag: basedOn ?? experiment.definition.control, subs: null };
    return refuseIfUnavailable(async () => {
      const { basis, view } = await readBasis(analytics, filter, today, expectedPerDay ?? null, signal);
      const plan = basis === null ? null : planDesign(experiment.definition, basis);
      return {
        name,
        exists: check.value.experiment !== null,
        planned_day: formatDayOrNull(plannedDayOf(experiment.definition)),
        retrospective: isRetrospective(experiment),
        basis: view,
        ...toPlanView(experiment.definition, plan),
      };
    });
  },
});

type PlannedDefinition = Parameters<typeof planDesign>[0];

/** Returns the estimates of a plan; without them if the plan is null. */
function toPlanView(
  { arms, control }: PlannedDefinition,
  plan: DesignPlan | null,
): Pick<ExperimentPlanResponse, 'first_comparison_on' | 'arms' | 'outlook'> {
  if (plan === null) {
    const unknown = { units_per_arm: null, found_on: null, smallest_effect_percent: null };
    const others = arms.filter(({ referrerTag }) => referrerTag !== control);
    return {
      first_comparison_on: null,
      arms: others.map(({ referrerTag }) => ({ arm: referrerTag, ...unknown })),
      outlook: [],
    };
  }
  return {
    first_comparison_on: formatDayOrNull(plan.firstComparisonOn),
    arms: plan.arms.map(({ arm, unitsNeeded, foundOn, smallestEffect }) => ({
      arm,
      units_per_arm: unitsNeeded,
      found_on: formatDayOrNull(foundOn),
      smallest_effect_percent: smallestEffect === null ? null : smallestEffect * 100,
    })),
    outlook: plan.outlook.map(({ days, endsOn, plannedDay, smallestEffect }) => ({
      days,
      ends_on: formatIsoDate(endsOn),
      planned_day: formatIsoDate(plannedDay),
      smallest_effect_percent: smallestEffect * 100,
    })),
  };
}

const formatDayOrNull = (day: number | null) => (day === null ? null : formatIsoDate(day));

/** Reads the figures of the page. `basis` is null if the number of its sessions with revenue is unknown. */
async function readBasis(
  analytics: PlanExperimentDeps['analytics'],
  filter: CohortFilter & { readonly referrerTag: string },
  today: number,
  requestedRate: number | null,
  signal: Parameters<Analytics['getSummary']>[1],
): Promise<{ readonly basis: PlanBasis | null; readonly view: ExperimentPlanResponse['basis'] }> {
  const [fromDay, toDay] = [today - bounds.maturedDefaultDays, lastMaturedCohortDay(today)];
  const { matured } = await analytics.getSummary({ ...filter, fromDay, toDay, today }, signal);
  const sessionsPerDay = requestedRate ?? (await readSessionsPerDay(analytics, filter, today, signal));
  const { sessions, sessionsWithRevenue, confirmedMicros, confirmedUsdSquared } = matured;
  return {
    basis:
      sessionsWithRevenue === null
        ? null
        : {
            sums: {
              sessions,
              unitsWithRevenue: sessionsWithRevenue,
              revenueMicros: confirmedMicros,
              revenueCentsSquared: confirmedUsdSquared * centsSquaredPerUsdSquared,
            },
            sessionsPerDay,
          },
    view: {
      referrer_tag: filter.referrerTag,
      from: sessions === 0 ? null : formatIsoDate(fromDay),
      to: sessions === 0 ? null : formatIsoDate(toDay),
      sessions,
      sessions_with_revenue: sessionsWithRevenue,
      rev_per_session: sessions === 0 ? null : microsToUsd(confirmedMicros) / sessions,
      sessions_per_day: sessionsPerDay,
    },
  };
}

/** Returns the mean number of sessions per day since the first session in the last closed days. */
async function readSessionsPerDay(
  analytics: PlanExperimentDeps['analytics'],
  filter: CohortFilter,
  today: number,
  signal: Parameters<Analytics['getSummary']>[1],
): Promise<number> {
  const query = { ...filter, fromDay: today - bounds.planRateDays, toDay: today - 1, today };
  const { days } = await analytics.listDailyAnalytics(query, signal);
  const first = days.findIndex(({ sessions }) => sessions > 0);
  if (first === -1) return 0;
  const counted = days.slice(first);
  return counted.reduce((sum, { sessions }) => sum + sessions, 0) / counted.length;
}
