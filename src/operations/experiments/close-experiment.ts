import Type from 'typebox';
import type { Analytics } from '../../analytics/analytics.ts';
import { bounds } from '../../bounds.ts';
import { daysSinceEpoch } from '../../domain/calendar.ts';
import { invalidRequest, type Outcome, serviceUnavailable, successOutcome } from '../../domain/outcome.ts';
import type { ExperimentOutcome } from '../../experiments/experiment.ts';
import { ledgerRecordKind } from '../../ledger/ledger-record.ts';
import { defineOperation } from '../api-operation.ts';
import {
  type ChangeExperimentDeps,
  describeChange,
  experimentNotFound,
  toAnalyticsTenant,
} from './experiment-changes.ts';
import { isExperimentText } from './experiment-definition.ts';
import {
  closingSchemas,
  type ExperimentResponse,
  experimentNameMember,
  experimentSchema,
} from './experiment-schemas.ts';
import { toExperimentView } from './experiment-view.ts';

export interface CloseExperimentDeps extends ChangeExperimentDeps {
  readonly analytics: Pick<Analytics, 'findExperiment' | 'getExperimentResults'>;
}

/** POST /experiments/{name}/close (docs/contract.md#closing-an-experiment): stores the outcome and the results of this moment. */
export const closeExperiment = defineOperation({
  id: 'closeExperiment',
  method: 'POST',
  path: '/experiments/{name}/close',
  limit: 'analytics',
  summary: 'Close an experiment',
  description:
    'Stores what you decided, with the results of this moment. A closed experiment counts no new sessions and cannot change. Its tags are free for other experiments.',
  parameters: { name: experimentNameMember },
  body: {
    title: 'ClosingRequest',
    members: {
      outcome: { schema: closingSchemas.outcome },
      arm: { schema: Type.Optional(closingSchemas.arm) },
      note: { schema: Type.Optional(closingSchemas.note), accepts: isExperimentText },
    },
    examples: { closing: { recorded: 'closingRequest' } },
  },
  response: {
    description: 'The closed experiment.',
    schema: experimentSchema,
    examples: { experiment: { recorded: 'closedExperiment' } },
  },
  errors: ['NOT_FOUND'],
  invalidParamExample: 'outcome',
  async handle(
    deps: CloseExperimentDeps,
    { name, outcome, arm = null, note = null },
    request,
  ): Promise<Outcome<ExperimentResponse>> {
    const { caller, signal } = request;
    const { analytics, clock, ledger, experimentChanges, findKeyId } = deps;
    return experimentChanges.runChange(ledger, signal, async () => {
      const query = { ...toAnalyticsTenant(caller), name };
      const experiment = await analytics.findExperiment(query, signal);
      if (experiment === null) return experimentNotFound();
      const { definition, closing } = experiment;
      if (arm !== null && !definition.arms.some(({ referrerTag }) => referrerTag === arm)) return invalidRequest('arm');
      const nowMs = clock.wallMs();
      if (closing !== null) {
        const isSame = closing.outcome === outcome && closing.arm === arm && closing.note === note;
        if (!isSame) return invalidRequest('outcome', closedRule);
        return successOutcome(toExperimentView(experiment, nowMs, findKeyId));
      }
      const today = daysSinceEpoch(nowMs);
      const results = await analytics.getExperimentResults(
        { ...query, today, withSeries: false, isLast: true, groupBy: null },
        signal,
      );
      if (results === null || results.fill_progress !== null) return serviceUnavailable(bounds.retryAfterSeconds);
      const closed: ExperimentOutcome = { outcome, arm, note, results };
      const change = describeChange(deps.subIds, caller, name, nowMs);
      const record = [ledgerRecordKind.experimentClosed, ...change, JSON.stringify(closed)] as const;
      const written = await experimentChanges.appendRecord(deps, request, record, {
        action: 'experiment.close',
        details: { outcome, arm },
      });
      if (!written.ok) return written;
      const view = { ...experiment, closing: { ...closed, closedMs: nowMs, keyNumber: caller.keyNumber } };
      return successOutcome(toExperimentView(view, nowMs, findKeyId));
    });
  },
});

const closedRule = 'cannot change, nor arm and note, because the experiment is closed';
