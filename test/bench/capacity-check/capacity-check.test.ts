import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CapacityCheckRequest } from '../../../bench/capacity/check.ts';
import { computePerRoute, type RouteName, routeNames } from '../../../bench/capacity/traffic-mix.ts';
import { buildMixedLoad, computeLoadSize } from '../../../bench/capacity-check/mixed-load.ts';
import type { PreparedRequest } from '../../../bench/load/prepared-request.ts';
import { createRandomBorrower } from '../../../bench/population/borrower.ts';
import { seededRandom } from '../../../bench/population/random.ts';
import type { BorrowerSession } from '../../../bench/scenarios/requests.ts';
import { bounds } from '../../../src/bounds.ts';

const random = seededRandom(1);

/** Generates the load of a capacity check. Names identify the sessions and clicks of the load. */
function loadOf(rates: Partial<Record<RouteName, number>>, seconds = 10) {
  const ratesPerSecond = computePerRoute((name) => rates[name] ?? 0);
  const order: CapacityCheckRequest = { ratesPerSecond, seconds, initialSessions: 0 };
  const scale = computeLoadSize(order);
  const sessions = (count: number, name: string): BorrowerSession[] =>
    Array.from({ length: count }, (_, at) => ({
      subId: `${name}-${at}`,
      key: 'written',
      borrower: createRandomBorrower(random),
    }));
  const keys = Array.from({ length: scale.keys }, (_, at) => `key-${at}`);
  const stock = {
    keys,
    changed: sessions(scale.sessions.changed, 'changed'),
    known: sessions(scale.sessions.known, 'known'),
    fresh: sessions(scale.sessions.fresh, 'fresh'),
    clicks: Array.from({ length: scale.clicks }, (_, at): PreparedRequest => ({ method: 'GET', path: `/c?sub=${at}` })),
  };
  return { order, scale, stock, requests: buildMixedLoad(order.ratesPerSecond, scale, stock) };
}

const lifeCycle = {
  session: 20,
  inputs: 26,
  'marketplace-unknown': 20,
  'marketplace-known': 3,
  click: 4.4,
  analytics: 0.4,
};

function routeOf({ method, path }: PreparedRequest): RouteName {
  if (path.startsWith('/c?')) return 'click';
  if (path.includes('/analytics?')) return 'analytics';
  if (method === 'POST') return path.endsWith('/session') ? 'session' : 'inputs';
  return path.includes('sub_id=known-') ? 'marketplace-known' : 'marketplace-unknown';
}

const subOf = (request: PreparedRequest) =>
  /sub_id=([\w-]+)/.exec(request.path)?.[1] ?? (JSON.parse(request.body!) as { sub_id: string }).sub_id;

test('each route gets its planned share of the requests, and each click is sent only once', () => {
  const { requests, order, scale } = loadOf(lifeCycle);
  assert(requests.length >= scale.perSecond * order.seconds);
  const clicks = requests.filter((request) => routeOf(request) === 'click').map(({ path }) => path);
  assert.equal(new Set(clicks).size, clicks.length);
  for (const length of [requests.length, 200]) {
    const stretch = requests.slice(0, length).map(routeOf);
    for (const name of routeNames) {
      const due = (order.ratesPerSecond[name] / scale.perSecond) * length;
      const count = stretch.filter((one) => one === name).length;
      assert(Math.abs(count - due) <= 2, `${name}: ${count} of ${length}, not ${due}`);
    }
  }
});

for (const [name, rates] of [
  ['inputs change more often than offers are asked for', lifeCycle],
  ['offers are asked for more often', { session: 10, inputs: 5, 'marketplace-unknown': 20 }],
  ['inputs never change', { session: 10, 'marketplace-unknown': 20 }],
] as const) {
  test(`each request that must compute a ranking uses a session whose ranking is not cached if ${name}`, () => {
    const { requests, scale } = loadOf(rates, 60);
    // For each session: the inputs of its last ranking, and the inputs that were sent after that ranking.
    const rankedAt = new Map<string, number>();
    const inputAt = new Map<string, number>();
    const incomes = new Map<string, Set<string>>();
    let inputs = 0;
    for (const request of requests) {
      const route = routeOf(request);
      if (route === 'inputs') {
        const sub = subOf(request);
        const had = incomes.get(sub) ?? new Set();
        assert(!had.has(request.body!), 'an income that the session had before');
        incomes.set(sub, had.add(request.body!));
        inputAt.set(sub, inputs++);
      } else if (route === 'marketplace-unknown') {
        const sub = subOf(request);
        const changed = inputAt.get(sub);
        const ranked = rankedAt.get(sub);
        assert(ranked === undefined || (changed !== undefined && changed > ranked), `${sub} was asked for before`);
        if (changed !== undefined) assert(changed <= inputs - scale.inputsBetween, 'its inputs may still be under way');
        rankedAt.set(sub, inputs);
      }
    }
    assert(rankedAt.size > 0);
  });
}

test('the load stays far below the limits per minute and per day of every API key', () => {
  const fast = { session: 300, inputs: 300, 'marketplace-unknown': 300, click: 60, analytics: 30 };
  const { requests, scale } = loadOf(fast, 20);
  const perKey = Map.groupBy(requests, ({ key }) => key);
  perKey.delete(undefined);
  assert.equal(perKey.size, scale.keys);
  const minutes = requests.length / scale.perSecond / 60;
  for (const sent of perKey.values()) {
    const count = (route: RouteName) => sent.filter((request) => routeOf(request) === route).length;
    assert(sent.length <= bounds.requestsPerMinuteDefault * minutes);
    assert(count('analytics') <= bounds.analyticsPerMinuteDefault * minutes + 1);
    assert(count('session') + scale.totalSessions / scale.keys <= bounds.sessionsPerDayDefault);
  }
});

test('creates the requested number of sessions, or more if the load needs more sessions', () => {
  const scaleOf = (initialSessions: number) => computeLoadSize({ ...loadOf(lifeCycle).order, initialSessions });
  assert.equal(scaleOf(1_000_000).totalSessions, 1_000_000);
  assert.equal(scaleOf(1).totalSessions, scaleOf(0).totalSessions);
  // With few requests, the sessions per day determine the number of keys.
  assert(scaleOf(1_000_000).keys >= 1_000_000 / bounds.sessionsPerDayDefault);
});
