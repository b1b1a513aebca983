import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageLoadRequests } from '../../../bench/curves/curve-requests.ts';
import { drawBorrower } from '../../../bench/population/borrower.ts';
import { seededRandom } from '../../../bench/population/random.ts';

const borrower = drawBorrower(seededRandom(1));
const sessions = Array.from({ length: 30 }, (_, n) => ({ subId: `sub_${n}`, key: 'its own', borrower }));

for (const count of [7, 1_000, 50_000]) {
  test(`sends the same number of requests with each of ${count} keys`, () => {
    const keys = Array.from({ length: count }, (_, n) => `key_${n}`);
    const uses = new Map<string, number>();
    for (const { key } of pageLoadRequests(sessions, keys)) uses.set(key!, (uses.get(key!) ?? 0) + 1);
    assert.deepEqual(new Set(uses.keys()), new Set(keys));
    assert.equal(new Set(uses.values()).size, 1);
  });
}

test('creates a session with every fifth request, and uses the known sessions in turn for the others', () => {
  const load = pageLoadRequests(sessions, ['key']);
  assert.equal(load.filter(({ path }) => path.endsWith('/session')).length, load.length / 5);
  const asked = new Set(load.flatMap(({ path }) => /sub_id=(\w+)/.exec(path)?.[1] ?? []));
  assert.ok(asked.size > 20, String(asked.size));
});
