import type { BenchPart } from './bench-part.ts';
import { consoleBenchPart } from './consoles/console-part.ts';
import { liveSessionsCurve } from './curves/live-sessions-curve.ts';
import { requestRateCurve } from './curves/offered-load-curve.ts';
import { ledgerBenchPart } from './history/history-part.ts';
import { limitsBenchPart } from './limits/limits-part.ts';
import { microBenchPart } from './micro/micro-part.ts';
import { createRouteBenchPart } from './routes/run-scenario.ts';
import { lifecycleScenario } from './scenarios/lifecycle-scenario.ts';
import { singleRouteScenarios } from './scenarios/route-scenarios.ts';
import { verticalScenarios } from './scenarios/vertical-scenarios.ts';
import { stackBenchPart } from './stack/stack-part.ts';

/** All parts of `make bench`, in the order in which they run. */
export const benchParts: readonly BenchPart[] = [
  ...[...singleRouteScenarios, ...verticalScenarios, lifecycleScenario].map(createRouteBenchPart),
  stackBenchPart,
  limitsBenchPart,
  requestRateCurve,
  liveSessionsCurve,
  microBenchPart,
  ledgerBenchPart,
  consoleBenchPart,
];
