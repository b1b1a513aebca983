import Type from 'typebox';
import type { Analytics } from '../../analytics/analytics.ts';
import { daysSinceEpoch } from '../../domain/calendar.ts';
import { invalidRequest, type Outcome, successOutcome } from '../../domain/outcome.ts';
import type { NameCursors } from '../../ids/cursors.ts';
import { defineOperation } from '../api-operation.ts';
import { pageLimitSchema, recentDaysSchema, refuseIfUnavailable } from '../query-analytics.ts';
import { type ExperimentDeps, queryExperiment, toAnalyticsTenant } from './experiment-changes.ts';
import {
  type ExperimentResponse,
  type ExperimentsResponse,
  experimentNameMember,
  experimentSchema,
  experimentsSchema,
} from './experiment-schemas.ts';
import { toExperimentView } from './experiment-view.ts';

export interface ListExperimentsDeps extends ExperimentDeps {
  readonly analytics: Pick<Analytics, 'findExperiment' | 'listExperiments'>;
  readonly experimentCursors: NameCursors;
}

/** GET /experiments/{name} (docs/contract.md#experiments): returns an experiment, also a deleted one. */
export const getExperiment = defineOperation({
  id: 'getExperiment',
  method: 'GET',
  path: '/experiments/{name}',
  limit: 'analytics',
  scope: 'analytics',
  summary: 'Get an experiment',
  description: 'The definition and the state of an experiment, also of a deleted one.',
  parameters: { name: experimentNameMember },
  response: {
    description: 'The experiment.',
    schema: experimentSchema,
    examples: { experiment: { recorded: 'experiment' } },
  },
  errors: ['NOT_FOUND'],
  invalidParamExample: 'name',
  async handle(deps: ExperimentDeps, { name }, { caller, signal }): Promise<Outcome<ExperimentResponse>> {
    const query = { ...toAnalyticsTenant(caller), name };
    const found = await queryExperiment(() => deps.analytics.findExperiment(query, signal));
    if (!found.ok) return found;
    return successOutcome(toExperimentView(found.value, deps.clock.wallMs(), deps.findKeyId));
  },
});

/** GET /experiments (docs/contract.md#experiments): returns a page of the caller's experiments in alphabetical order. */
export const listExperiments = defineOperation({
  id: 'listExperiments',
  method: 'GET',
  path: '/experiments',
  limit: 'analytics',
  scope: 'analytics',
  summary: 'List experiments',
  description: 'Your experiments without the deleted ones. Counts toward the limit of analytics queries.',
  parameters: {
    limit: { description: 'Maximum number of experiments.', schema: pageLimitSchema },
    cursor: { description: 'The `next_cursor` of the previous page.', schema: Type.Optional(Type.String()) },
    recent_days: {
      description:
        'Leaves out experiments that were closed, or whose planned day passed, before the last days. Today is one of them.',
      schema: recentDaysSchema,
    },
  },
  response: {
    description: 'A page of experiments.',
    schema: experimentsSchema,
    examples: { experiments: { recorded: 'experiments' } },
  },
  errors: [],
  invalidParamExample: 'cursor',
  async handle(
    { analytics, experimentCursors, clock, findKeyId }: ListExperimentsDeps,
    { limit, cursor, recent_days: recentDays },
    { caller, signal },
  ): Promise<Outcome<ExperimentsResponse>> {
    const tenant = toAnalyticsTenant(caller);
    const afterName = cursor === undefined ? '' : experimentCursors.verify(tenant, cursor);
    if (afterName === null) return invalidRequest('cursor');
    return refuseIfUnavailable(async () => {
      const nowMs = clock.wallMs();
      const query = {
        ...tenant,
        afterName,
        limit,
        ...(recentDays === undefined ? {} : { currentSinceDay: daysSinceEpoch(nowMs) - recentDays + 1 }),
      };
      const page = await analytics.listExperiments(query, signal);
      const { nextAfterName } = page;
      return {
        data: page.experiments.map((experiment) => toExperimentView(experiment, nowMs, findKeyId)),
        has_more: nextAfterName !== null,
        next_cursor: nextAfterName === null ? null : experimentCursors.createCursor(tenant, nextAfterName),
      };
    });
  },
});
