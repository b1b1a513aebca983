import { type Static, type TSchema, Type } from 'typebox';
import { bounds } from '../bounds.ts';
import { nullableSchema } from '../domain/nullable-schema.ts';
import { groupKinds } from './breakdown-figures.ts';
import { decisions } from './decide.ts';
import { experimentStates } from './experiment.ts';

// Schemas of the results (docs/contract.md#experiments), in the form in which the API returns them and a closing stores them.

const count = (description: string) => Type.Integer({ minimum: 0, description });
const number = (description: string) => Type.Number({ description });
const date = (description: string) => Type.String({ format: 'date', description });
const text = (description: string) => Type.String({ description });
const oneOf = <const Word extends string>(values: readonly Word[], description: string) =>
  Type.Unsafe<Word>({ type: 'string', enum: values, description });
const list = <Item extends TSchema>(item: Item, description: string) => Type.Array(item, { description });

const minimumUnits = `at least ${bounds.unitsWithRevenueMin} units with revenue`;
const armTag = text('Referrer tag of the arm.');
const decision = oneOf(decisions, 'What the figures show.');

/** Value with the limits of its interval. */
function intervalSchema(description: string) {
  return nullableSchema(
    Type.Object({ value: Type.Number(), low: Type.Number(), high: Type.Number() }, { description }),
  );
}

export type ArmResults = Static<typeof armResultsSchema>;
export const armResultsSchema = Type.Object(
  {
    referrer_tag: armTag,
    label: nullableSchema(text('Label of the arm; `null` without one.')),
    weight: number('Intended share of the units, from 0 to 1.'),
    sessions: count('Sessions of all closed days.'),
    units: count('Units (sessions or visitors) of all closed days.'),
    mature_sessions: count('Sessions whose revenue can no longer change.'),
    mature_units: count('Units with such sessions.'),
    mature_days: count('Days with such sessions.'),
    units_with_revenue: count('Mature units with revenue above 0.'),
    views: count('Responses with offers, and widget loads that received offers.'),
    clicks: count('First clicks of a session on each shown offer.'),
    click_rate: number('`clicks` per view, not in percent; 0 without views.'),
    rev_attributed: number('Expected revenue of the clicks, in USD.'),
    rev_confirmed: number('Confirmed revenue of all sessions up to now, in USD, also if it came too late to count.'),
    revenue_per_session: nullableSchema(number('Revenue per mature session, in USD; `null` without mature sessions.')),
    interval: nullableSchema(
      Type.Object(
        { low: Type.Number(), high: Type.Number() },
        {
          description: `95 % interval of \`revenue_per_session\` for one look; \`null\` without ${minimumUnits}, or if all units have the same revenue. Do not compare arms by their intervals; use \`difference\`.`,
        },
      ),
    ),
    after_freeze: Type.Object(
      { confirmed: Type.Number({ minimum: 0 }), reversed: Type.Number({ minimum: 0 }) },
      { description: 'Payouts and reversals of mature sessions that came too late to count, in USD.' },
    ),
    units_in_several_arms: count(
      'Units that also had sessions in other arms; all their sessions count in their first arm.',
    ),
    largest_payout_share: nullableSchema(
      number(
        'Share of the mature revenue that the unit with the largest revenue has, from 0 to 1; `null` without revenue.',
      ),
    ),
    early_read: nullableSchema(
      Type.Object(
        { revenue_per_session: Type.Number(), low: Type.Number(), high: Type.Number() },
        {
          description: `Preliminary: final revenue per session of the sessions so far, in USD, predicted from the time that earlier revenue took to arrive, with a 95 % interval. Never a decision. \`null\` without at least ${bounds.earlyReadUnitsMin} units with revenue, before the first week of sessions is mature, when all weeks are mature, and where clicks confirm their own revenue.`,
        },
      ),
    ),
    funnel: Type.Optional(
      Type.Object(
        {
          units: count('Units of all closed days.'),
          with_offers: count('Units with offers in a view, which only complete pocket fields allow.'),
          with_clicks: count('Units with a counted click.'),
          with_revenue: count('Units with confirmed revenue so far; recent units do not have all of it yet.'),
        },
        {
          title: 'ExperimentFunnel',
          description: 'Units by how far they got. Absent in results that an earlier release stored.',
        },
      ),
    ),
    revenue_by_age: Type.Optional(
      list(
        Type.Object(
          {
            weeks: count('Weeks since the start of the day of the session.'),
            sessions: count('Sessions that are at least this old.'),
            revenue_per_session: number('Revenue per session that was accepted within these weeks, in USD.'),
          },
          { title: 'RevenueAge' },
        ),
        'How revenue arrives with the age of sessions: the sum over weeks of the revenue of that week per session that is old enough. Absent in results that an earlier release stored.',
      ),
    ),
  },
  { title: 'ExperimentArmResults' },
);

export type CappedDifference = Static<typeof cappedDifferenceSchema>;
const cappedDifferenceSchema = Type.Object(
  {
    value: Type.Number(),
    low: Type.Number(),
    high: Type.Number(),
    cap: number('The limit, in USD.'),
    share_cut: number('Share of the revenue of all arms above the limit, from 0 to 1.'),
  },
  {
    description: `\`difference\` with the revenue of each unit limited to the 99th percentile of the revenues above 0: shows whether a few large payouts make the difference. \`null\` with fewer than ${bounds.cappedUnitsMin} units with revenue, and while \`difference\` is \`null\`.`,
  },
);

const planningSchema = Type.Object(
  {
    units_per_arm: count('Mature units that the arm needs.'),
    units_left: count('Units that are still missing.'),
    days_left: nullableSchema(count('Days until then at the present rate; `null` if no units arrive.')),
    smallest_effect_percent: nullableSchema(
      number(
        'If the planned day comes earlier: the difference in percent of the control that is found by then in 80 % of experiments; otherwise `null`.',
      ),
    ),
  },
  {
    description:
      'Estimated size of an experiment that finds a difference of `min_effect_percent` in 80 % of experiments; `null` without `min_effect_percent`, without mature revenue in both arms, and after the planned day.',
  },
);

export type ComparisonResults = Static<typeof comparisonSchema>;
export const comparisonSchema = Type.Object(
  {
    arm: armTag,
    decision,
    sentence: text('What the figures show, in English.'),
    difference: intervalSchema(
      'Revenue per session of the arm minus that of the control, in USD. The interval may be looked at every day. `null` until each arm has enough data.',
    ),
    relative: intervalSchema(
      '`difference` in relation to the control, such as 0.27 for 27 % more; `null` also if the revenue of the control is too uncertain.',
    ),
    difference_today: nullableSchema(
      number(
        'Difference in USD with the payouts and reversals that came too late, without a decision; `null` without mature sessions, and with `cap_usd`, which does not limit late revenue.',
      ),
    ),
    p_value: nullableSchema(
      number(
        'Smallest p value of the looks so far, corrected for all looks and arms; at most 0.05 exactly if an interval excluded 0.',
      ),
    ),
    decided_on: nullableSchema(date('Day of the first interval that excluded 0; `null` before.')),
    difference_then: intervalSchema('`difference` of that day; `null` before.'),
    capped_difference: nullableSchema(cappedDifferenceSchema),
    planning: nullableSchema(planningSchema),
  },
  { title: 'ExperimentComparison' },
);

const splitCheckSchema = Type.Object(
  {
    log_martingale: number(
      `Largest value so far of the natural logarithm of a test martingale; the split is wrong from ln ${bounds.splitMartingaleMax} = ${Math.log(bounds.splitMartingaleMax).toFixed(4)} on.`,
    ),
    chi_square_p: nullableSchema(number('p value of a chi-square test, valid for one look; `null` without units.')),
    invalid: Type.Boolean({ description: 'Whether the units did not arrive in the intended split.' }),
    assignment_mismatches: nullableSchema(
      count(
        'Sessions with the tag of another arm than the one assigned to their visitor; `null` unless `assignment` is `hash`.',
      ),
    ),
  },
  { title: 'ExperimentSplitCheck', description: 'Check of the number of units of each arm.' },
);

const guardrailNames = [
  'sessions_per_visitor',
  'clicks_per_session',
  'inputs_completed',
  'widget_errors',
  'reversed_share',
] as const;
export type GuardrailName = (typeof guardrailNames)[number];

export type GuardrailResults = Static<typeof guardrailSchema>;
const guardrailSchema = Type.Object(
  {
    arm: armTag,
    name: oneOf(guardrailNames, 'The ratio; `sessions_per_visitor` only if the unit is a visitor.'),
    control: nullableSchema(number('Ratio of the control; `null` if its denominator is 0.')),
    value: nullableSchema(number('Ratio of the arm; `null` if its denominator is 0.')),
    difference: nullableSchema(number('`value` minus `control`.')),
    low: nullableSchema(number('Limits of the 99 % interval of the difference, which may be looked at every day.')),
    high: nullableSchema(number('See `low`.')),
    word: nullableSchema(
      oneOf(
        ['worse', 'no sign of harm'],
        'Whether the interval shows harm; `null` with too few events for an interval.',
      ),
    ),
  },
  { title: 'ExperimentGuardrail' },
);

export type SeriesLook = Static<typeof seriesLookSchema>;
export const seriesLookSchema = Type.Object(
  {
    arm: armTag,
    as_of: date('Day of the look.'),
    difference: nullableSchema(number('Difference of that day, in USD; `null` until each arm has enough data.')),
    low: nullableSchema(number('Lower limit of the interval of that day.')),
    high: nullableSchema(number('Upper limit of the interval of that day.')),
    p_value: nullableSchema(number('Smallest p value up to that day.')),
    units_with_revenue: count('Mature units of the arm with revenue.'),
  },
  { title: 'ExperimentLook' },
);

/** The only sentence about figures of groups: with many groups, some differ by chance. */
export const breakdownWarning = 'For ideas, not for decisions.';

export type BreakdownGroup = Static<typeof breakdownGroupSchema>;
const breakdownGroupSchema = Type.Object(
  {
    kind: oneOf(
      groupKinds,
      '`value`: a device class or a value of the dimension; `none`: sessions whose metadata does not have the key; `other`: the rest.',
    ),
    value: nullableSchema(text('Device class, or value of the dimension as text; `null` unless `kind` is `value`.')),
    arms: list(
      Type.Object(
        {
          ...Type.Pick(armResultsSchema, ['referrer_tag', 'sessions', 'units', 'units_with_revenue', 'views', 'clicks'])
            .properties,
          ...Type.Pick(armResultsSchema, ['click_rate', 'rev_attributed', 'rev_confirmed', 'revenue_per_session'])
            .properties,
        },
        { title: 'ExperimentGroupArm' },
      ),
      'The figures of each arm in the group.',
    ),
    comparisons: list(
      Type.Object(
        {
          arm: armTag,
          difference: intervalSchema(
            `Revenue per session of the arm minus that of the control in the group, in USD, with a 99 % interval, which may be looked at every day. \`null\` until both arms have ${minimumUnits} in the group.`,
          ),
        },
        { title: 'ExperimentGroupComparison' },
      ),
      'Comparison of each arm with the control in the group, without a decision.',
    ),
  },
  { title: 'ExperimentGroup' },
);

const breakdownSchema = Type.Object(
  {
    group_by: text('`device` or the name of a dimension.'),
    warning: text(`Always "${breakdownWarning}"`),
    groups: list(
      breakdownGroupSchema,
      `Device classes, or the ${bounds.dimensionValuesMax} values that came first, in the order of their first session, then \`none\` and \`other\`. Groups without sessions are left out.`,
    ),
  },
  { title: 'ExperimentBreakdown', description: 'With `group_by`: figures of groups of units.' },
);

export type ExperimentResults = Static<typeof experimentResultsSchema>;
export const experimentResultsSchema = Type.Object({
  name: text('Name of the experiment.'),
  state: oneOf(experimentStates, 'State of the experiment today.'),
  decision,
  sentence: text('What the figures show, in English. Claims no more than the figures allow.'),
  as_of: date('Last day of the results: yesterday (UTC), or the day before the closing.'),
  planned_day: nullableSchema(
    date('Day on which all sessions are mature and the last look is taken; `null` without `ends_on`.'),
  ),
  retrospective: Type.Boolean({ description: 'Whether the experiment was created after its first day.' }),
  unit: oneOf(['session', 'visitor'], 'What is counted as independent.'),
  control: text('Referrer tag of the arm with which the others are compared.'),
  fill_progress: nullableSchema(
    number(
      'Share of the sessions before the creation of the experiment that are counted, from 0 to 1. Until it is `null`, nothing is compared.',
    ),
  ),
  warnings: list(Type.String(), 'Sentences about problems of the data.'),
  left_out: Type.Object(
    {
      bots: count('Sessions whose user agent declares a bot.'),
      outside_dates: count('Sessions before `starts_on` or after `ends_on`.'),
      no_unit: count('Sessions without `unit_id`, if the unit is a visitor.'),
    },
    { description: 'Sessions with the tags of the arms that are in no arm.' },
  ),
  arms: list(armResultsSchema, 'The arms as defined.'),
  comparisons: list(comparisonSchema, 'Comparison of each arm with the control.'),
  split_check: splitCheckSchema,
  guardrails: list(guardrailSchema, 'Ratios that may show harm, for each arm other than the control.'),
  breakdown: Type.Optional(breakdownSchema),
  series: Type.Optional(
    list(
      seriesLookSchema,
      `With \`series=true\`: the looks of the last ${bounds.experimentSeriesLooksMax} days, in the order of days, then arms.`,
    ),
  ),
});

export interface ResultsWithSeries {
  /** Without the members `breakdown` and `series`. */
  readonly results: ExperimentResults;
  /** In the order of days, then arms; at most `bounds.experimentSeriesLooksMax` latest looks of each arm. */
  readonly series: readonly SeriesLook[];
}
