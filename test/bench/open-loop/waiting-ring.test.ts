import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WaitingRing } from '../../../bench/open-loop/waiting-ring.ts';

test('gives back in order what it was given, and takes no more than it has room for', () => {
  const ring = new WaitingRing(3);
  assert.equal(ring.take(), undefined);
  for (let lap = 0; lap < 4; lap++) {
    for (const item of [1, 2, 3]) assert.ok(ring.add(10 * lap + item));
    assert.equal(ring.add(99), false);
    assert.equal(ring.size, 3);
    assert.equal(ring.peek(), 10 * lap + 1);
    assert.deepEqual([ring.take(), ring.take()], [10 * lap + 1, 10 * lap + 2]);
    assert.ok(ring.add(50));
    assert.deepEqual([ring.take(), ring.take(), ring.take()], [10 * lap + 3, 50, undefined]);
  }
});
