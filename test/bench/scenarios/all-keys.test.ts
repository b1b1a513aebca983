import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { HttpCaller } from '../../../bench/load/http-caller.ts';
import { lifecycleScenario } from '../../../bench/scenarios/lifecycle-scenario.ts';
import {
  analyticsScenario,
  inputsScenario,
  marketplaceKnownScenario,
  marketplaceUnknownScenario,
  sessionScenario,
} from '../../../bench/scenarios/route-scenarios.ts';
import type { ScenarioStage } from '../../../bench/scenarios/scenario.ts';
import { type ServiceTarget, startServiceTarget } from '../../../bench/target/service-target.ts';

/** Proportions of a full run: 20,000 requests per round, each sent once, and 12,000 keys. */
const roundRequests = 200;
const keys = 120;

let folder = '';
let service: ServiceTarget;
let caller: HttpCaller;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bench-keys-'));
  service = await startServiceTarget({ folder, keys });
  caller = new HttpCaller(service.port, 8);
});
after(async () => {
  caller.close();
  await service.close();
  await rm(folder, { recursive: true });
});

const keyed = [
  sessionScenario,
  inputsScenario,
  marketplaceKnownScenario,
  marketplaceUnknownScenario,
  analyticsScenario,
  lifecycleScenario,
];

for (const scenario of keyed) {
  test(`sends a round of ${scenario.name} with every key, however few sessions the round uses`, async () => {
    let taken = 0;
    const nextKey = () => service.keys[taken++ % keys]!;
    const stage: ScenarioStage = { caller, keys: service.keys, nextKey, roundRequests, state: new Map() };
    for (const round of [0, 1]) {
      const requests = await scenario.prepare(stage, round);
      const used = new Set(requests.flatMap(({ key }) => key ?? []));
      assert.equal(used.size, keys);
    }
  });
}
