import type { ApiOperation } from './api-operation.ts';
import { closeExperiment } from './close-experiment.ts';
import { createSession } from './create-session.ts';
import { defineExperiment } from './define-experiment.ts';
import { deleteExperiment } from './delete-experiment.ts';
import { getExperimentArm } from './get-experiment-arm.ts';
import { getExperimentResults } from './get-experiment-results.ts';
import { getMarketplace } from './get-marketplace.ts';
import { listExperimentUnits } from './list-experiment-units.ts';
import { listTags } from './list-tags.ts';
import { queryAnalytics } from './query-analytics.ts';
import { getExperiment, listExperiments } from './read-experiments.ts';
import { submitInputs } from './submit-inputs.ts';

const operations = [
  createSession,
  submitInputs,
  getMarketplace,
  queryAnalytics,
  listTags,
  listExperiments,
  getExperiment,
  defineExperiment,
  deleteExperiment,
  closeExperiment,
  getExperimentArm,
  getExperimentResults,
  listExperimentUnits,
] as const;

/** All operations of the API, in the order of the OpenAPI document. */
export const apiOperations: readonly ApiOperation[] = operations;

type DepsConsumer<Operation> = Operation extends { handle(deps: infer Deps, ...rest: never): unknown }
  ? (deps: Deps) => void
  : never;

/** Components that the operations use. */
export type ApiOperationDeps =
  DepsConsumer<(typeof operations)[number]> extends (deps: infer Deps) => void ? Deps : never;
