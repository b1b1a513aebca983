// Types of the answers of the API, from the schemas of the server. Only types may be imported from the server: the browser program contains
// none of its code.
export type { ExperimentResults } from '../../../experiments/experiment-results.ts';
export type { DailyFigures, TagFigures, TagsResponse } from '../../../operations/analytics-schemas.ts';
export type { ExperimentResponse, ExperimentsResponse } from '../../../operations/experiments/experiment-schemas.ts';
