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

/** Everything `make bench` measures, one after the other in this order. */
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

/** What `--only` takes: the name of each part, and of each group. */
export function partNames(parts: readonly BenchPart[]): string[] {
  return [...new Set(parts.flatMap(({ name, group }) => (group === undefined ? [name] : [group, name])))];
}

/** The parts with one of these names, or all of them where there are none, in the order of the list. */
export function selectParts(parts: readonly BenchPart[], only: readonly string[]): BenchPart[] {
  return parts.filter(
    ({ name, group }) => only.length === 0 || only.includes(name) || (group !== undefined && only.includes(group)),
  );
}
