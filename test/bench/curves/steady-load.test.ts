import assert from 'node:assert/strict';
import { test } from 'node:test';
import { steadyLoadRequests } from '../../../bench/curves/curve-requests.ts';
import { drawBorrower } from '../../../bench/population/borrower.ts';
import { seededRandom } from '../../../bench/population/random.ts';

const borrower = drawBorrower(seededRandom(1));

for (const count of [3, 14, 20]) {
  test(`sends one income and four offer requests for each of ${count} sessions`, () => {
    const sessions = Array.from({ length: count }, (_, n) => ({ subId: `sub_${n}_`, key: `key_${n}`, borrower }));
    const load = steadyLoadRequests(sessions);
    assert.equal(load.length, 5 * count);
    for (const { subId, key } of sessions) {
      const own = load.filter(({ path, body }) => path.includes(subId) || body?.includes(subId));
      assert.deepEqual(own.map(({ method }) => method).sort(), ['GET', 'GET', 'GET', 'GET', 'POST']);
      assert.ok(own.every((request) => request.key === key));
    }
  });
}

test('mixes input requests and offer requests within a round', () => {
  const sessions = Array.from({ length: 20 }, (_, n) => ({ subId: `sub_${n}`, key: 'key', borrower }));
  const load = steadyLoadRequests(sessions);
  for (let lap = 0; lap < 5; lap++) {
    const inputs = load.slice(20 * lap, 20 * lap + 20).filter(({ method }) => method === 'POST');
    assert.equal(inputs.length, 4);
  }
});
