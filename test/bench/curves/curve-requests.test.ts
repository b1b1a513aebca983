import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageVisitRequests, steadyLoadRequests } from '../../../bench/curves/curve-requests.ts';
import { estimateSessionMemory, readDefaultMaxSessions } from '../../../bench/curves/live-sessions-curve.ts';
import { computeRequestRate } from '../../../bench/curves/load-point.ts';
import { createRandomBorrower } from '../../../bench/population/borrower.ts';
import { seededRandom } from '../../../bench/population/random.ts';

const borrower = createRandomBorrower(seededRandom(1));
const sessionsOf = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ subId: `sub_${n}_`, key: `key_${n}`, borrower }));

test('pageVisitRequests uses all API keys equally often, and one request in five creates a session', () => {
  const sessions = sessionsOf(30);
  for (const count of [7, 1_000, 50_000]) {
    const keys = Array.from({ length: count }, (_, n) => `key_${n}`);
    const load = pageVisitRequests(sessions, keys);
    const uses = Map.groupBy(load, ({ key }) => key!);
    assert.deepEqual(new Set(uses.keys()), new Set(keys));
    assert.equal(new Set([...uses.values()].map(({ length }) => length)).size, 1);
    assert.equal(load.filter(({ path }) => path.endsWith('/session')).length, Math.floor(load.length / 5));
    assert.ok(new Set(load.flatMap(({ path }) => /sub_id=(\w+)/.exec(path)?.[1] ?? [])).size > 20);
  }
});

test('sends one new income and four requests for offers per session, in mixed order', () => {
  for (const count of [3, 14, 20]) {
    const sessions = sessionsOf(count);
    const load = steadyLoadRequests(sessions);
    assert.equal(load.length, 5 * count);
    for (const { subId, key } of sessions) {
      const own = load.filter(({ path, body }) => path.includes(subId) || body?.includes(subId));
      assert.deepEqual(own.map(({ method }) => method).sort(), ['GET', 'GET', 'GET', 'GET', 'POST']);
      assert.ok(own.every((request) => request.key === key));
    }
  }
  const load = steadyLoadRequests(sessionsOf(20));
  for (let lap = 0; lap < 5; lap++) {
    assert.equal(load.slice(20 * lap, 20 * lap + 20).filter(({ method }) => method === 'POST').length, 4);
  }
});

test('computeRequestRate returns a share of the saturation rate, but at least the rate that sends 20 requests', () => {
  assert.deepEqual(
    [computeRequestRate(0.6, 12_345, 6), computeRequestRate(0.05, 30, 0.3), computeRequestRate(0.05, 0, 6)],
    [7_407, 67, 4],
  );
});

test('computes the memory per session as the slope of a least-squares line, and returns null for a single measurement', () => {
  const mebibyte = 2 ** 20;
  const points = [1_000, 10_000, 100_000].map((sessions) => ({
    sessions,
    heapUsedMiB: 30 + (300 * sessions) / mebibyte,
    rssMiB: 200 + (450 * sessions) / mebibyte,
  }));
  const { heapBytes, residentBytes } = estimateSessionMemory(points, 6, 5_000)!;
  assert.deepEqual([Math.round(heapBytes), Math.round(residentBytes)], [300, 450]);
  const scattered = [1, 4, 4].map((heapUsedMiB, sessions) => ({ sessions, heapUsedMiB, rssMiB: 1 }));
  assert.equal(estimateSessionMemory(scattered, 6, 1)!.heapBytes, 1.5 * mebibyte);
  assert.equal(estimateSessionMemory(points.slice(0, 1), 6, 5_000), null);
});

test('readDefaultMaxSessions ignores the environment variable SVC_MAX_SESSIONS', async (t) => {
  process.env.SVC_MAX_SESSIONS = '7';
  t.after(() => delete process.env.SVC_MAX_SESSIONS);
  assert.ok((await readDefaultMaxSessions()) > 10_000);
});
