import { isDeepStrictEqual } from 'node:util';
import type { Analytics, DefinitionCheck } from '../../analytics/analytics.ts';
import { bounds } from '../../bounds.ts';
import { daysSinceEpoch, formatIsoDate } from '../../domain/calendar.ts';
import { type Failure, invalidRequest, type Outcome, successOutcome } from '../../domain/outcome.ts';
import { type Experiment, type ExperimentDefinition, isRunningOn } from '../../experiments/experiment.ts';
import { ledgerRecordKind } from '../../ledger/ledger-record.ts';
import { defineOperation } from '../api-operation.ts';
import { type ChangeExperimentDeps, describeChange, toAnalyticsTenant } from './experiment-changes.ts';
import { definitionMembers, findFixedMemberChange, parseDefinition } from './experiment-definition.ts';
import { type ExperimentResponse, experimentNameMember, experimentSchema } from './experiment-schemas.ts';
import { toExperimentView } from './experiment-view.ts';

export interface DefineExperimentDeps extends ChangeExperimentDeps {
  readonly analytics: Pick<Analytics, 'findExperiment' | 'checkDefinition'>;
  /** Value of `grace_days` of new experiments. */
  readonly confirmationGraceDays: number;
}

/**
 * PUT /experiments/{name} (docs/contract.md#definition-of-an-experiment): creates an experiment, or changes it within the rules. A repeated
 * request changes nothing and returns the same experiment.
 */
export const defineExperiment = defineOperation({
  id: 'defineExperiment',
  method: 'PUT',
  path: '/experiments/{name}',
  limit: 'analytics',
  summary: 'Define an experiment',
  description:
    'Creates an experiment, or changes it until the first session of one of its arms. After that session, only labels, the hypothesis and the dimensions can change.',
  parameters: { name: experimentNameMember },
  body: {
    title: 'ExperimentRequest',
    members: definitionMembers,
    examples: { experiment: { recorded: 'experimentRequest' } },
  },
  response: {
    description: 'The experiment.',
    schema: experimentSchema,
    examples: { experiment: { recorded: 'experiment' } },
  },
  errors: [],
  invalidParamExample: 'weight',
  async handle(deps: DefineExperimentDeps, { name, ...body }, request): Promise<Outcome<ExperimentResponse>> {
    const { caller, signal } = request;
    const parsed = parseDefinition(body, caller.vertical, deps.confirmationGraceDays);
    if (!parsed.ok) return parsed;
    return deps.experimentChanges.runChange(deps.ledger, signal, async () => {
      const nowMs = deps.clock.wallMs();
      const tags = parsed.value.arms.map(({ referrerTag }) => referrerTag);
      const query = { ...toAnalyticsTenant(caller), name, tags, today: daysSinceEpoch(nowMs) };
      const check = await deps.analytics.checkDefinition(query, signal);
      const checked = checkDefinition(name, parsed.value, check, nowMs);
      if (!checked.ok) return checked;
      const experiment = checked.value;
      if (!isDeepStrictEqual(experiment, check.experiment)) {
        const record = [
          ledgerRecordKind.experimentDefined,
          ...describeChange(deps.subIds, caller, name, nowMs),
          JSON.stringify(experiment.definition),
        ] as const;
        const written = await deps.experimentChanges.appendRecord(
          deps,
          request,
          record,
          describeDefinition(experiment, check.experiment),
        );
        if (!written.ok) return written;
      }
      return successOutcome(toExperimentView(experiment, nowMs, deps.findKeyId));
    });
  },
});

/**
 * Returns the experiment that a valid definition creates or changes, or the error of a definition that is not allowed. A definition that
 * equals the stored one is always allowed.
 */
export function checkDefinition(
  name: string,
  definition: ExperimentDefinition,
  check: DefinitionCheck,
  nowMs: number,
): Outcome<Experiment> {
  const experiment = applyDefinition(name, definition, check.experiment, nowMs);
  if (isDeepStrictEqual(experiment, check.experiment)) return successOutcome(experiment);
  return findRefusal(experiment, check, daysSinceEpoch(nowMs)) ?? successOutcome(experiment);
}

/** Returns the experiment with a definition. `revenueDays` and `graceDays` stay as they were at the creation. */
function applyDefinition(
  name: string,
  definition: ExperimentDefinition,
  stored: Experiment | null,
  nowMs: number,
): Experiment {
  if (stored === null) return { name, definition, createdMs: nowMs, closing: null, isDeleted: false };
  const { revenueDays, graceDays } = stored.definition;
  return { ...stored, definition: { ...definition, revenueDays, graceDays } };
}

/** Returns the entry of a new or changed definition in the audit log. Texts of the partner are in the ledger only. */
function describeDefinition(experiment: Experiment, stored: Experiment | null) {
  const { definition } = experiment;
  if (stored !== null) {
    const names = Object.keys(definition) as (keyof ExperimentDefinition)[];
    const changed = names.filter((name) => !isDeepStrictEqual(definition[name], stored.definition[name]));
    return { action: 'experiment.change', details: { changed } } as const;
  }
  const { arms, control, unit, startsOn, endsOn } = definition;
  const days = { starts_on: formatIsoDate(startsOn), ends_on: endsOn === null ? null : formatIsoDate(endsOn) };
  const details = { arms: arms.map(({ referrerTag }) => referrerTag), control, unit, ...days };
  return { action: 'experiment.define', details } as const;
}

/** Returns the error of a definition that differs from the stored one and is not allowed, or null. */
function findRefusal(
  { definition, createdMs }: Experiment,
  { experiment: stored, hasSessions, experimentCount, isTagInUse }: DefinitionCheck,
  today: number,
): Failure | null {
  if (stored === null && experimentCount >= bounds.experimentsPerTenantMax) {
    return invalidRequest('name', experimentLimitRule);
  }
  if (stored !== null && (stored.closing !== null || stored.isDeleted)) return invalidRequest('name', unchangeableRule);
  const fixed = hasSessions && stored !== null ? findFixedMemberChange(stored.definition, definition) : null;
  if (fixed !== null) return invalidRequest(fixed, fixedMemberRule);
  if (Math.abs(definition.startsOn - daysSinceEpoch(createdMs)) > bounds.experimentDaysMax) {
    return invalidRequest('starts_on');
  }
  return isTagInUse && isRunningOn(definition, today) ? invalidRequest('referrer_tag', tagInUseRule) : null;
}

const experimentLimitRule = `must be the name of an existing experiment, because this account has ${bounds.experimentsPerTenantMax} experiments in this vertical and mode, including deleted ones`;
const unchangeableRule =
  'must not be the name of a closed or deleted experiment, which cannot change; define an experiment with another name';
const fixedMemberRule =
  'cannot change after the first session of an arm; only labels, hypothesis and dimensions can. Define an experiment with another name';
const tagInUseRule =
  'must not be the tag of another running experiment in any arm; close that experiment, which may be deleted, or use another tag';
