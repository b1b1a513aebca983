import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { serverOrder } from '../../../bench/routes/run-scenario.ts';

test('every round has every server once', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9 }), fc.nat(1_000), (count, round) => {
      const servers = Array.from({ length: count }, (_, at) => at);
      assert.deepEqual(serverOrder(servers, round).toSorted(), servers);
    }),
  );
});

test('each server comes first as often as the others, and none always after the same', () => {
  const servers = ['a', 'b', 'c', 'd'];
  const rounds = Array.from({ length: 4 }, (_, round) => serverOrder(servers, round));
  assert.deepEqual(rounds.map(([first]) => first).toSorted(), servers);
  for (const server of servers) {
    const before = new Set(rounds.flatMap((round) => round[round.indexOf(server) - 1] ?? []));
    assert.ok(before.size > 1, `${server} always comes after ${[...before]}`);
  }
});
