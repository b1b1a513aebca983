import type { BenchPart } from '../part.ts';
import type { Scenario } from '../scenarios/scenario.ts';
import { runScenario } from './run-scenario.ts';

/** One route under the same load on the service and on every baseline. */
export function routePart(scenario: Scenario): BenchPart {
  return {
    name: scenario.name,
    group: 'routes',
    description: scenario.title,
    measure: async (context) => ({ routes: await runScenario(scenario, context) }),
  };
}
