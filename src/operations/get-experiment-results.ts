import Type from 'typebox';
import type { Analytics } from '../analytics/analytics.ts';
import { daysSinceEpoch } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import { nullableSchema } from '../domain/nullable-schema.ts';
import { type Outcome, successOutcome } from '../domain/outcome.ts';
import {
  armResultsSchema,
  comparisonSchema,
  experimentResultsSchema,
  seriesLookSchema,
} from '../experiments/experiment-results.ts';
import { defineOperation } from './api-operation.ts';
import { listCsvColumns } from './csv-table.ts';
import { experimentNotFound, toAnalyticsTenant } from './experiment-changes.ts';
import { experimentNameMember } from './experiment-schemas.ts';
import { refuseIfUnavailable } from './query-analytics.ts';
import { flagSchema } from './request-members.ts';
import { ignoredParametersProperty, type ValueOf } from './schema-parts.ts';

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
    series: { description: 'Whether the answer has the member `series`.', schema: flagSchema },
  },
  response: {
    description: 'The results.',
    schema: responseSchema,
    examples: { results: { recorded: 'experimentResults' } },
    csv: {
      description: 'One line for each arm with its comparison, or with `series=true` one line for each look.',
      examples: { results: { recorded: 'experimentResultsCsv' } },
    },
  },
  errors: ['NOT_FOUND'],
  invalidParamExample: 'name',
  async handle(
    { analytics, clock }: GetExperimentResultsDeps,
    { name, series },
    { caller, signal },
  ): Promise<Outcome<ExperimentResultsResponse>> {
    const today = daysSinceEpoch(clock.wallMs());
    const query = { ...toAnalyticsTenant(caller), name, today, withSeries: series };
    const found = await refuseIfUnavailable(() => analytics.getExperimentResults(query, signal));
    if (!found.ok) return found;
    return found.value === null ? experimentNotFound() : successOutcome(found.value);
  },
  createCsvPage({ arms, comparisons, series }) {
    if (series !== undefined) return { columns: lookColumns, rows: series, nextCursor: null };
    const rows = arms.map((arm) => ({
      ...arm,
      comparison: comparisons.find((comparison) => comparison.arm === arm.referrer_tag) ?? null,
    }));
    return { columns: armColumns, rows, nextCursor: null };
  },
});
