import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { mock, test } from 'node:test';
import type { PreparedBenchmark } from '../../../bench/micro/micro-benchmark.ts';
import { listMicroBenchmarks, runMicroBenchmark } from '../../../bench/micro/micro-part.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const micros = listMicroBenchmarks(true, 1_000);

test('the names of micro benchmarks are unique and start with the path of the measured folder in src', () => {
  const all = listMicroBenchmarks(false, 1_000_000);
  assert.equal(new Set(all.map(({ name }) => name)).size, all.length);
  for (const { name } of all) {
    const folder = dirname(name.split(': ')[0]!);
    assert.ok(existsSync(new URL(`../../../src/${folder}`, import.meta.url)), `${name}: there is no src/${folder}`);
  }
});

test('every micro benchmark can run repeatedly, and leaves no files after it is closed', async (t) => {
  const folder = temporaryFolder(t);
  const place = { folder, quick: true };
  for (const micro of micros) {
    // Skips the largest catalog, whose preparation takes seconds and which differs only by its size.
    if (micro.name.includes('10,000 offers')) continue;
    const prepared = await micro.prepare(place);
    for (let run = 0; run < 2; run++) {
      prepared.beforeEach?.();
      assert.ok((await prepared.run()) > 0, micro.name);
    }
    await prepared.close?.();
  }
  assert.deepEqual(await readdir(folder), []);
});

const measure = (prepared: PreparedBenchmark) =>
  runMicroBenchmark({ name: 'a/b: c', prepare: () => prepared }, { folder: tmpdir(), quick: true });

for (const [kind, given] of [
  ['synchronous', (runs: number) => runs],
  ['asynchronous', (runs: number) => Promise.resolve(runs)],
] as const) {
  test(`repeats a benchmark with ${kind} calls, prepares each run, and closes the benchmark at the end`, async () => {
    let prepared = 0;
    let runs = 0;
    const close = mock.fn();
    const { medianNs, p99Ns } = await measure({
      calls: 10,
      beforeEach: () => {
        prepared++;
      },
      run: () => {
        runs++;
        assert.equal(prepared, runs);
        return given(runs);
      },
      close,
    });
    assert.ok(runs > 3);
    assert.equal(close.mock.callCount(), 1);
    assert.ok(medianNs >= 0 && p99Ns >= medianNs);
  });
}

test('closes the benchmark and reports an error if a run throws or returns 0 or NaN', async () => {
  const close = mock.fn();
  await assert.rejects(measure({ calls: 1, run: () => 0, close }), /a\/b: c returned 0/);
  await assert.rejects(measure({ calls: 1, run: () => Number.NaN, close }), /returned NaN/);
  let runs = 0;
  const third = () => {
    if (++runs === 3) throw new Error('the third run');
    return 1;
  };
  await assert.rejects(measure({ calls: 1, run: third, close }), /the third run/);
  assert.equal(close.mock.callCount(), 3);
});
