import Type from 'typebox';
import type { Analytics, ExperimentUnit } from '../../analytics/analytics.ts';
import { bounds } from '../../bounds.ts';
import { daysSinceEpoch, formatIsoDate } from '../../domain/calendar.ts';
import type { Clock } from '../../domain/clock.ts';
import { microsToUsd } from '../../domain/money.ts';
import { nullableSchema } from '../../domain/nullable-schema.ts';
import { invalidRequest, type Outcome, successOutcome } from '../../domain/outcome.ts';
import type { UnitCursors } from '../../ids/cursors.ts';
import { defineOperation } from '../api-operation.ts';
import { listCsvColumns } from '../csv-table.ts';
import {
  ignoredParametersProperty,
  isoDateSchema,
  nonNegativeIntegerSchema,
  pageEndProperties,
  type ValueOf,
} from '../schema-parts.ts';
import { queryExperiment, toAnalyticsTenant } from './experiment-changes.ts';
import { experimentNameMember } from './experiment-schemas.ts';

export interface ListExperimentUnitsDeps {
  readonly analytics: Pick<Analytics, 'listExperimentUnits'>;
  readonly clock: Clock;
  readonly unitCursors: UnitCursors;
}

const unitSchema = Type.Object(
  {
    arm: Type.String({ description: 'Referrer tag of the arm.' }),
    first_day: isoDateSchema('The day of its first session.'),
    sessions: nonNegativeIntegerSchema('Sessions up to `as_of`.'),
    clicks: nonNegativeIntegerSchema('Counted clicks of these sessions.'),
    mature_sessions: nonNegativeIntegerSchema('Sessions whose revenue can no longer change.'),
    revenue: nullableSchema(
      Type.Number({
        minimum: 0,
        description: 'Revenue of the mature sessions that counts, in USD; `null` without one.',
      }),
    ),
    mature: Type.Boolean({ description: 'Whether the unit has a mature session.' }),
  },
  { title: 'ExperimentUnit' },
);

/** A page of the units of an experiment (docs/contract.md#units). */
export type ExperimentUnitsResponse = ValueOf<typeof unitsSchema>;
const unitsSchema = Type.Object(
  {
    name: Type.String({ description: 'The name of the experiment.' }),
    as_of: isoDateSchema('The last day of the figures, which is the same for all pages.'),
    sessions_kept_from: nullableSchema(
      isoDateSchema('The first day whose sessions are retained; `null` if none were deleted.'),
    ),
    data: Type.Array(unitSchema, { maxItems: bounds.experimentUnitsPageMax }),
    ...pageEndProperties,
    ...ignoredParametersProperty,
  },
  { title: 'ExperimentUnits' },
);

const csvColumns = listCsvColumns(unitSchema);

/** GET /experiments/{name}/units (docs/contract.md#units): returns a page of the units of an experiment, without any id. */
export const listExperimentUnits = defineOperation({
  id: 'listExperimentUnits',
  method: 'GET',
  path: '/experiments/{name}/units',
  limit: 'analytics',
  scope: 'analytics',
  summary: 'List the units of an experiment',
  description:
    'One entry for each session or visitor, so that you can compute the results yourself. Counts toward the limit of analytics queries.',
  parameters: {
    name: experimentNameMember,
    limit: {
      description: 'Maximum number of units.',
      schema: Type.Integer({
        minimum: 1,
        maximum: bounds.experimentUnitsPageMax,
        default: bounds.experimentUnitsPageMax,
      }),
    },
    cursor: { description: 'The `next_cursor` of the previous page.', schema: Type.Optional(Type.String()) },
  },
  response: {
    description: 'A page of units.',
    schema: unitsSchema,
    examples: { units: { recorded: 'experimentUnits' } },
    csv: {
      description: 'A page of units, one line each.',
      examples: { units: { recorded: 'experimentUnitsCsv' } },
    },
  },
  errors: ['NOT_FOUND'],
  invalidParamExample: 'cursor',
  async handle(
    { analytics, clock, unitCursors }: ListExperimentUnitsDeps,
    { name, limit, cursor },
    { caller, signal },
  ): Promise<Outcome<ExperimentUnitsResponse>> {
    const tenant = toAnalyticsTenant(caller);
    const position = cursor === undefined ? null : unitCursors.verify(tenant, name, cursor);
    if (cursor !== undefined && position === null) return invalidRequest('cursor');
    const query = { ...tenant, name, today: daysSinceEpoch(clock.wallMs()), position, limit };
    const found = await queryExperiment(() => analytics.listExperimentUnits(query, signal));
    if (!found.ok) return found;
    const { arms, asOf, units, retainedFromDay, next } = found.value;
    return successOutcome({
      name,
      as_of: formatIsoDate(asOf),
      sessions_kept_from: retainedFromDay === 0 ? null : formatIsoDate(retainedFromDay),
      data: units.map((unit) => toUnitView(arms, unit)),
      has_more: next !== null,
      next_cursor: next === null ? null : unitCursors.createCursor(tenant, name, next),
    });
  },
  createCsvPage: ({ data, next_cursor: nextCursor }) => ({ columns: csvColumns, rows: data, nextCursor }),
});

function toUnitView(
  arms: readonly string[],
  { arm, firstDay, sessions, clicks, matureSessions, revenueMicros }: ExperimentUnit,
): ExperimentUnitsResponse['data'][number] {
  const isMature = matureSessions > 0;
  return {
    arm: arms[arm]!,
    first_day: formatIsoDate(firstDay),
    sessions,
    clicks,
    mature_sessions: matureSessions,
    revenue: isMature ? microsToUsd(revenueMicros) : null,
    mature: isMature,
  };
}
