import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { HttpCaller } from '../../../bench/load/http-caller.ts';
import { createRandomBorrower } from '../../../bench/population/borrower.ts';
import { seededRandom } from '../../../bench/population/random.ts';
import { createScenarioContext } from '../../../bench/routes/run-scenario.ts';
import { lifecycleRequestCounts, lifecycleScenario } from '../../../bench/scenarios/lifecycle-scenario.ts';
import { requestsWithChangedIncome } from '../../../bench/scenarios/requests.ts';
import { clickScenario, singleRouteScenarios } from '../../../bench/scenarios/route-scenarios.ts';
import { type ServiceTarget, startServiceTarget } from '../../../bench/target/service-target.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Proportions of a full run: 20,000 requests per round, each sent once, and 12,000 keys. */
const roundRequests = 200;
const keys = 120;

const folder = temporaryFolder();
let service: ServiceTarget;
let caller: HttpCaller;
before(async () => {
  service = await startServiceTarget({ folder, keys });
  caller = new HttpCaller(service.port, 8);
});
after(async () => {
  caller.close();
  await service.close();
});

for (const scenario of [...singleRouteScenarios, lifecycleScenario]) {
  // Click redirects need no key.
  if (scenario === clickScenario) continue;
  test(`the requests of each round of ${scenario.name} use all API keys, even if there are few sessions`, async () => {
    const stage = createScenarioContext(caller, service.keys, roundRequests);
    for (const round of [0, 1]) {
      const requests = await scenario.prepareRequests(stage, round);
      const used = new Set(requests.flatMap(({ key }) => key ?? []));
      assert.equal(used.size, keys);
    }
  });
}

test('every request sends an income that differs from all earlier incomes of its session', () => {
  const random = seededRandom(5);
  const session = (at: number) => ({ subId: `sub_${at}`, key: 'svc_key', borrower: createRandomBorrower(random) });
  const sessions = Array.from({ length: 7 }, (_, at) => session(at));
  const requests = [0, 1, 2, 40, 9_999].flatMap((round) => requestsWithChangedIncome(sessions, 30, round));
  const bodies = requests.map(({ body }) => JSON.parse(body!) as { sub_id: string; fields: { annual_income: number } });
  for (const { subId, borrower } of sessions) {
    const sent = bodies.filter(({ sub_id }) => sub_id === subId).map(({ fields }) => fields.annual_income);
    assert.ok(sent.length >= 20);
    assert.equal(new Set([...sent, borrower.annual_income]).size, sent.length + 1);
    assert.ok(sent.every((income) => Number.isInteger(income) && income >= 0 && income < 10_000_000));
  }
});

test('divides requests among the routes in fixed ratios, with at least one request for each route', () => {
  assert.deepEqual(lifecycleRequestCounts(36_900), {
    session: 10_000,
    inputs: 13_000,
    'marketplace-unknown': 10_000,
    'marketplace-known': 1_500,
    click: 2_200,
    analytics: 200,
  });
  const few = lifecycleRequestCounts(3);
  assert.ok(Object.values(few).every((count) => count > 0));
  assert.equal(few.analytics, 2);
});
