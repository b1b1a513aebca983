import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BoundedQueue } from '../../../bench/open-loop/open-loop-client.ts';

test('returns requests in their order, and accepts no more requests than its capacity', () => {
  const ring = new BoundedQueue(3);
  assert.equal(ring.shift(), undefined);
  for (let lap = 0; lap < 4; lap++) {
    for (const item of [1, 2, 3]) assert.ok(ring.tryPush(10 * lap + item));
    assert.equal(ring.tryPush(99), false);
    assert.equal(ring.size, 3);
    assert.equal(ring.peek(), 10 * lap + 1);
    assert.deepEqual([ring.shift(), ring.shift()], [10 * lap + 1, 10 * lap + 2]);
    assert.ok(ring.tryPush(50));
    assert.deepEqual([ring.shift(), ring.shift(), ring.shift()], [10 * lap + 3, 50, undefined]);
  }
});
