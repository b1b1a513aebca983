import { invalidRequest, type Outcome, successOutcome } from '../../domain/outcome.ts';
import { findAssignedArm } from '../../experiments/assign-arm.ts';
import { defineOperation } from '../api-operation.ts';
import { unitIdMember } from '../request-members.ts';
import { type ExperimentChanges, type ExperimentDeps, queryExperiment } from './experiment-changes.ts';
import { type ExperimentArmResponse, experimentArmSchema, experimentNameMember } from './experiment-schemas.ts';

export interface GetExperimentArmDeps {
  readonly analytics: ExperimentDeps['analytics'];
  readonly experimentChanges: ExperimentChanges;
}

/**
 * GET /experiments/{name}/arm (docs/contract.md#assignment-by-hash): assigns a visitor to an arm. The answer depends only on the definition
 * and the `unit_id`, and is the same in every state of the experiment.
 */
export const getExperimentArm = defineOperation({
  id: 'getExperimentArm',
  method: 'GET',
  path: '/experiments/{name}/arm',
  limit: 'requests',
  scope: 'analytics',
  summary: 'Get the arm of a visitor',
  description:
    'For experiments with the assignment `hash`: the arm of a visitor, which never changes. Call it before you choose the page.',
  parameters: { name: experimentNameMember, unit_id: unitIdMember },
  response: {
    description: 'The arm.',
    schema: experimentArmSchema,
    examples: { arm: { recorded: 'experimentArm' } },
  },
  errors: ['NOT_FOUND'],
  invalidParamExample: 'unit_id',
  async handle(
    { analytics, experimentChanges }: GetExperimentArmDeps,
    { name, unit_id: unitId },
    { caller, signal },
  ): Promise<Outcome<ExperimentArmResponse>> {
    const found = await queryExperiment(() => experimentChanges.findDefinition(analytics, caller, name, signal));
    if (!found.ok) return found;
    const definition = found.value;
    if (definition.assignment !== 'hash') return invalidRequest('name', ownAssignmentRule);
    return successOutcome({ referrer_tag: findAssignedArm(name, unitId, definition.arms).referrerTag });
  },
});

const ownAssignmentRule =
  'must be the name of an experiment with assignment hash; your own rule assigns the arms of this one';
