import type { ApiOperation } from './api-operation.ts';
import { createSession } from './create-session.ts';
import { closeExperiment } from './experiments/close-experiment.ts';
import { defineExperiment } from './experiments/define-experiment.ts';
import { deleteExperiment } from './experiments/delete-experiment.ts';
import { getExperimentArm } from './experiments/get-experiment-arm.ts';
import { getExperimentResults } from './experiments/get-experiment-results.ts';
import { listExperimentUnits } from './experiments/list-experiment-units.ts';
import { planExperiment } from './experiments/plan-experiment.ts';
import { getExperiment, listExperiments } from './experiments/read-experiments.ts';
import { getMarketplace } from './get-marketplace.ts';
import { listTags } from './list-tags.ts';
import { queryAnalytics } from './query-analytics.ts';
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
  planExperiment,
  getExperimentArm,
  getExperimentResults,
  listExperimentUnits,
] as const;

/** All operations of the API, in the order of the OpenAPI document. */
export const apiOperations: readonly ApiOperation[] = operations;

const consolePaths: readonly string[] = ['analytics', 'tags', 'experiments'];

/** Operations that the partner console calls. A login at the console cannot use other operations. */
export const consoleOperations: readonly ApiOperation[] = apiOperations.filter(({ path }) =>
  consolePaths.includes(path.split('/')[1]!),
);

type DepsConsumer<Operation> = Operation extends { handle(deps: infer Deps, ...rest: never): unknown }
  ? (deps: Deps) => void
  : never;

/** Components that the operations use. */
export type ApiOperationDeps =
  DepsConsumer<(typeof operations)[number]> extends (deps: infer Deps) => void ? Deps : never;
