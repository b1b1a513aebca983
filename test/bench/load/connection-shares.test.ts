import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { splitConnections } from '../../../bench/load/load-client.ts';

test('assigns every connection to one thread, and almost the same number of connections to every thread', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 40 }), (connections, threads) => {
      const shares = splitConnections(connections, threads);
      const owned = shares.flatMap(({ first, count }) => Array.from({ length: count }, (_, at) => first + at));
      assert.deepEqual(
        owned,
        Array.from({ length: connections }, (_, at) => at),
      );
      const counts = shares.map(({ count }) => count);
      assert.ok(Math.min(...counts) > 0 && Math.max(...counts) - Math.min(...counts) <= 1);
      assert.equal(shares.length, Math.min(connections, threads));
    }),
  );
});
