import { type Outcome, successOutcome } from '../../domain/outcome.ts';
import { ledgerRecordKind } from '../../ledger/ledger-record.ts';
import { defineOperation } from '../api-operation.ts';
import {
  type ChangeExperimentDeps,
  describeChange,
  experimentNotFound,
  toAnalyticsTenant,
} from './experiment-changes.ts';
import { type ExperimentResponse, experimentNameMember, experimentSchema } from './experiment-schemas.ts';
import { toExperimentView } from './experiment-view.ts';

/** DELETE /experiments/{name} (docs/contract.md#deleted-experiments): hides an experiment from the list. Its name stays taken. */
export const deleteExperiment = defineOperation({
  id: 'deleteExperiment',
  method: 'DELETE',
  path: '/experiments/{name}',
  limit: 'analytics',
  summary: 'Delete an experiment',
  description: 'Hides an experiment from the list. Its name stays taken, and its sessions count until it is closed.',
  parameters: { name: experimentNameMember },
  response: {
    description: 'The deleted experiment.',
    schema: experimentSchema,
    examples: { experiment: { recorded: 'deletedExperiment' } },
  },
  errors: ['NOT_FOUND'],
  invalidParamExample: 'name',
  async handle(deps: ChangeExperimentDeps, { name }, request): Promise<Outcome<ExperimentResponse>> {
    const { caller, signal } = request;
    return deps.experimentChanges.runChange(deps.ledger, signal, async () => {
      const experiment = await deps.analytics.findExperiment({ ...toAnalyticsTenant(caller), name }, signal);
      if (experiment === null) return experimentNotFound();
      const nowMs = deps.clock.wallMs();
      if (!experiment.isDeleted) {
        const record = [
          ledgerRecordKind.experimentDeleted,
          ...describeChange(deps.subIds, caller, name, nowMs),
        ] as const;
        const written = await deps.experimentChanges.appendRecord(deps, request, record, {
          action: 'experiment.delete',
        });
        if (!written.ok) return written;
      }
      return successOutcome(toExperimentView({ ...experiment, isDeleted: true }, nowMs, deps.findKeyId));
    });
  },
});
