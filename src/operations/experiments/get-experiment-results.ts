import Type from 'typebox';
import type { Analytics } from '../../analytics/analytics.ts';
import { daysSinceEpoch } from '../../domain/calendar.ts';
import type { Clock } from '../../domain/clock.ts';
import { nullableSchema } from '../../domain/nullable-schema.ts';
import { invalidRequest, type Outcome, successOutcome } from '../../domain/outcome.ts';
import {
  armResultsSchema,
  comparisonSchema,
  experimentResultsSchema,
  seriesLookSchema,
} from '../../experiments/experiment-results.ts';
import { defineOperation } from '../api-operation.ts';
import { listCsvColumns } from '../csv-table.ts';
import { flagSchema } from '../request-members.ts';
import { ignoredParametersProperty, type ValueOf } from '../schema-parts.ts';
import { queryExperiment, toAnalyticsTenant } from './experiment-changes.ts';
import { experimentNameMember } from './experiment-schemas.ts';

export interface GetExperimentResultsDeps {
  readonly analytics: Pick<Analytics, 'getExperimentResults'>;
  readonly clock: Clock;
}

/** Results of an experiment (docs/contract.md#results). */
export type ExperimentResultsResponse = ValueOf<typeof responseSchema>;
const responseSchema = Type.Object(
  { ...experimentResultsSchema.properties, ...ignoredParametersProperty },
  { title: 'ExperimentResults' },
);

const { arm: _, ...comparisonProperties } = comparisonSchema.properties;
const armColumns = listCsvColumns(
  Type.Object({ ...armResultsSchema.properties, comparison: nullableSchema(Type.Object(comparisonProperties)) }),
);
const { groups } = experimentResultsSchema.properties.breakdown.properties;
const { arms: groupArms, comparisons: groupComparisons, ...groupProperties } = groups.items.properties;
const { arm: __, ...groupComparisonProperties } = groupComparisons.items.properties;
const groupColumns = listCsvColumns(
  Type.Object({
    ...groupProperties,
    ...groupArms.items.properties,
    comparison: nullableSchema(Type.Object(groupComparisonProperties)),
  }),
);
const lookColumns = listCsvColumns(seriesLookSchema);

/** GET /experiments/{name}/results (docs/contract.md#results): compares the arms of an experiment with its control. */
export const getExperimentResults = defineOperation({
  id: 'getExperimentResults',
  method: 'GET',
  path: '/experiments/{name}/results',
  limit: 'analytics',
  scope: 'analytics',
  summary: 'Get the results of an experiment',
  description:
    'Compares each arm with the control, up to the last closed day. The results of a closed experiment are those of its closing. Counts toward ' +
    'the limit of analytics queries.',
  parameters: {
    name: experimentNameMember,
    group_by: {
      description: 'Adds the member `breakdown`: `device`, or one of the `dimensions` of the experiment.',
      schema: Type.Optional(Type.String()),
    },
    series: { description: 'Whether the answer has the member `series`.', schema: flagSchema },
  },
  response: {
    description: 'The results.',
    schema: responseSchema,
    examples: { results: { recorded: 'experimentResults' } },
    csv: {
      description:
        'One line for each arm with its comparison, with `series=true` one line for each look, or with `group_by` one line for each group and arm.',
      examples: { results: { recorded: 'experimentResultsCsv' } },
    },
  },
  errors: ['NOT_FOUND'],
  invalidParamExample: 'name',
  async handle(
    { analytics, clock }: GetExperimentResultsDeps,
    { name, series, group_by: groupBy = null },
    { caller, signal },
  ): Promise<Outcome<ExperimentResultsResponse>> {
    const today = daysSinceEpoch(clock.wallMs());
    const query = { ...toAnalyticsTenant(caller), name, today, withSeries: series, isLast: false, groupBy };
    const found = await queryExperiment(() => analytics.getExperimentResults(query, signal));
    if (!found.ok) return found;
    const isGrouped = groupBy === null || found.value.breakdown !== undefined;
    return isGrouped ? successOutcome(found.value) : invalidRequest('group_by');
  },
  createCsvPage({ arms, comparisons, series, breakdown }) {
    if (breakdown !== undefined) return { columns: groupColumns, rows: listGroupRows(breakdown), nextCursor: null };
    if (series !== undefined) return { columns: lookColumns, rows: series, nextCursor: null };
    return { columns: armColumns, rows: addComparisons(arms, comparisons), nextCursor: null };
  },
});

/** Adds to each arm its comparison with the control; null for the control. */
function addComparisons<Arm extends { readonly referrer_tag: string }, Comparison extends { readonly arm: string }>(
  arms: readonly Arm[],
  comparisons: readonly Comparison[],
) {
  return arms.map((arm) => ({ ...arm, comparison: comparisons.find((each) => each.arm === arm.referrer_tag) ?? null }));
}

function listGroupRows({ groups }: NonNullable<ExperimentResultsResponse['breakdown']>): object[] {
  return groups.flatMap(({ kind, value, arms, comparisons }) =>
    addComparisons(arms, comparisons).map((arm) => ({ kind, value, ...arm })),
  );
}
