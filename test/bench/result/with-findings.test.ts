import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BenchResult } from '../../../bench/result/bench-result.ts';
import { mergeFindings } from '../../../bench/result/bench-result.ts';

const micro = (name: string) => ({ name, medianNs: 1, p99Ns: 2 });

test('appends to lists, replaces other values, and does not change the original result', () => {
  const before = { quick: true, memory: null, micro: [micro('a')], history: [] } as unknown as BenchResult;
  const memory = { fields: 1, heapBytes: 2, residentBytes: 3, points: [], sessionsMax: 4 };
  const after = mergeFindings(before, { memory, micro: [micro('b')] });
  assert.deepEqual(
    after.micro.map(({ name }) => name),
    ['a', 'b'],
  );
  assert.deepEqual(after.memory, memory);
  assert.equal(before.micro.length, 1);
  assert.equal(before.memory, null);
});
