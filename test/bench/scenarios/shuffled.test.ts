import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../bench/population/random.ts';
import { shuffle } from '../../../bench/scenarios/lifecycle-scenario.ts';

const items = Array.from({ length: 100 }, (_, at) => at);

test('a shuffle retains every item, and returns the same order for the same seed', () => {
  const mixed = shuffle(items, seededRandom(1));
  assert.deepEqual(
    mixed.toSorted((a, b) => a - b),
    items,
  );
  assert.notDeepEqual(mixed, items);
  assert.deepEqual(shuffle(items, seededRandom(1)), mixed);
  assert.notDeepEqual(shuffle(items, seededRandom(2)), mixed);
});
