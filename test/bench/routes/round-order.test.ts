import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { serverOrder } from '../../../bench/routes/run-scenario.ts';

test('includes every server once in every round', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), fc.nat(1_000), (count, round) => {
      const servers = Array.from({ length: count }, (_, at) => at);
      assert.deepEqual(serverOrder(servers, round).toSorted(), servers);
    }),
  );
});

test('starts rounds with each server equally often, and varies the predecessor of each server', () => {
  const servers = ['a', 'b', 'c', 'd'];
  const rounds = Array.from({ length: 4 }, (_, round) => serverOrder(servers, round));
  assert.deepEqual(rounds.map(([first]) => first).toSorted(), servers);
  for (const server of servers) {
    const before = new Set(rounds.flatMap((round) => round[round.indexOf(server) - 1] ?? []));
    assert.ok(before.size > 1, `${server} always comes after ${[...before]}`);
  }
});
