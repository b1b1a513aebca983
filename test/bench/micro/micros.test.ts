import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { calibrationName } from '../../../bench/micro/micro-benchmark.ts';
import { listMicroBenchmarks } from '../../../bench/micro/micro-part.ts';

const micros = listMicroBenchmarks({ quick: true, liveSessions: 1_000 });

test('micro benchmarks have unique names that start with the path of their source file', () => {
  const all = listMicroBenchmarks({ quick: false, liveSessions: 1_000_000 });
  assert.equal(new Set(all.map(({ name }) => name)).size, all.length);
  for (const { name, call } of all) {
    // The calibration belongs to no source file.
    if (name === calibrationName) continue;
    const [file] = name.split(': ');
    assert.ok(existsSync(new URL(`../../../src/${file}.ts`, import.meta.url)), `${name}: there is no src/${file}.ts`);
    assert.ok(call.length > 0, name);
  }
});

test('limits the live sessions in the micro benchmark of the session store', () => {
  const full = listMicroBenchmarks({ quick: false, liveSessions: 10_000 }).map(({ name }) => name);
  assert.ok(full.some((name) => name.endsWith('get, 10,000 sessions')));
  assert.ok(!full.some((name) => name.includes('100,000 sessions')));
});

test('runs every micro benchmark repeatedly and deletes its files', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-micro-'));
  t.after(() => rm(folder, { recursive: true }));
  const place = { folder, quick: true };
  for (const micro of micros) {
    // Skips the largest catalog, whose preparation takes seconds and which differs only by its size.
    if (micro.name.includes('10,000 offers')) continue;
    if ('measure' in micro) {
      const { medianNs, p99Ns, worstNs } = await micro.measure(place);
      assert.ok(medianNs > 0 && medianNs <= p99Ns && p99Ns <= worstNs, micro.name);
      continue;
    }
    const prepared = await micro.prepare(place);
    for (let run = 0; run < 2; run++) {
      prepared.beforeEach?.();
      assert.ok((await prepared.run()) > 0, micro.name);
    }
    await prepared.close?.();
  }
  assert.deepEqual(await readdir(folder), []);
});
