import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseBenchOptions, selectBenchParts } from '../../bench/options.ts';
import { benchParts } from '../../bench/parts.ts';
import { type BenchResult, mergePartResult } from '../../bench/result/bench-result.ts';

const selected = (...only: string[]) => selectBenchParts(only).map(({ name }) => name);

test('without options, runs all benchmark parts at full scale with the default clients', () => {
  const { quick, only, client, publish } = parseBenchOptions([]);
  assert.deepEqual({ quick, only, client, publish }, { quick: false, only: [], client: undefined, publish: false });
  assert.equal(selectBenchParts(only), benchParts);
});

test('--only accepts benchmark parts and groups of parts in any order', () => {
  const { only } = parseBenchOptions(['--only', 'micro', '--only', 'click', '--client', 'wrk']);
  assert.deepEqual(selected(...only), ['click', 'micro']);
  assert.deepEqual(selected('curves'), ['offered-load', 'live-sessions']);
});

test('rejects an unknown benchmark part, client or option, and lists the known names', () => {
  assert.throws(() => parseBenchOptions(['--only', 'sessions']), /routes, session, .*click/);
  assert.throws(() => parseBenchOptions(['--client', 'curl']), /wrk or autocannon/);
  assert.throws(() => parseBenchOptions(['--fast']), /--fast/);
});

test('mergePartResult appends to arrays, replaces other values, and does not change the original result', () => {
  const micro = (name: string) => ({ name, medianNs: 1, p99Ns: 2 });
  const before = { quick: true, memory: null, micro: [micro('a')], history: [] } as unknown as BenchResult;
  const memory = { fields: 1, heapBytes: 2, residentBytes: 3, points: [], sessionsMax: 4 };
  const after = mergePartResult(before, { memory, micro: [micro('b')] });
  assert.deepEqual(
    after.micro.map(({ name }) => name),
    ['a', 'b'],
  );
  assert.deepEqual(after.memory, memory);
  assert.deepEqual([before.micro.length, before.memory], [1, null]);
});
