import type { BenchPart } from './bench-part.ts';
import { matcherCrossoverPart } from './crossover/crossover-part.ts';
import { liveSessionsCurve } from './curves/live-sessions-curve.ts';
import { apiKeysCurve, offeredLoadCurve } from './curves/page-load-curves.ts';
import { uncachedOfferCurves } from './curves/uncached-offer-curves.ts';
import { historyPart } from './history/history-part.ts';
import { limitsPart } from './limits/limits-part.ts';
import { microPart } from './micro/micro-part.ts';
import { routePart } from './routes/run-scenario.ts';
import { lifecycleScenario } from './scenarios/lifecycle-scenario.ts';
import { routeScenarios } from './scenarios/route-scenarios.ts';

/** All parts of `make bench`, in the order in which they run. */
export const benchParts: readonly BenchPart[] = [
  ...[...routeScenarios, lifecycleScenario].map(routePart),
  limitsPart,
  offeredLoadCurve,
  liveSessionsCurve,
  ...uncachedOfferCurves,
  apiKeysCurve,
  microPart,
  matcherCrossoverPart,
  historyPart,
];
