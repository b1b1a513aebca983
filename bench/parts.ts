import type { BenchPart } from './bench-part.ts';
import { crossoverPart } from './crossover/crossover-part.ts';
import { curveParts } from './curves/curves-part.ts';
import { historyPart } from './history/history-part.ts';
import { limitsPart } from './limits/limits-part.ts';
import { microPart } from './micro/micro-part.ts';
import { routePart } from './routes/run-scenario.ts';
import { lifecycleScenario } from './scenarios/lifecycle-scenario.ts';
import {
  analyticsScenario,
  clickScenario,
  inputsScenario,
  marketplaceKnownScenario,
  marketplaceUnknownScenario,
  sessionScenario,
} from './scenarios/route-scenarios.ts';

/** All parts of `make bench`, in order. */
export const benchParts: readonly BenchPart[] = [
  routePart(sessionScenario),
  routePart(inputsScenario),
  routePart(marketplaceKnownScenario),
  routePart(marketplaceUnknownScenario),
  routePart(clickScenario),
  routePart(analyticsScenario),
  routePart(lifecycleScenario),
  limitsPart,
  ...curveParts,
  microPart,
  crossoverPart,
  historyPart,
];

/** Names for `--only`: all parts and groups. */
export function partNames(parts: readonly BenchPart[]): string[] {
  return [...new Set(parts.flatMap(({ name, group }) => (group === undefined ? [name] : [group, name])))];
}

/** Returns the parts with these names or all parts, in order. */
export function selectParts(parts: readonly BenchPart[], only: readonly string[]): BenchPart[] {
  return parts.filter(
    ({ name, group }) => only.length === 0 || only.includes(name) || (group !== undefined && only.includes(group)),
  );
}
