// Types of the answers of the API, from the schemas of the server. Only types may be imported from the server: the browser program contains
// none of its code.
export type { ExperimentResults } from '../../../experiments/experiment-results.ts';
export type {
  AnalyticsSummary,
  DailyFigures,
  OfferAnalytics,
  SessionRowsResponse,
  TagFigures,
  TagsResponse,
} from '../../../operations/analytics-schemas.ts';
export type {
  ExperimentDefinitionRequest,
  ExperimentResponse,
  ExperimentsResponse,
} from '../../../operations/experiments/experiment-schemas.ts';
export type { ExperimentPlanResponse } from '../../../operations/experiments/plan-experiment.ts';
