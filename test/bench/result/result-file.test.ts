import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { BenchResult } from '../../../bench/result/bench-result.ts';
import { ResultFile } from '../../../bench/result/result-file.ts';

test('writes a run to its own file from its first part on, and marks it as the latest at its end', async () => {
  const folder = join(await mkdtemp(join(tmpdir(), 'bench-result-')), 'results');
  try {
    const file = await ResultFile.create(folder, '2026-01-02T03:04:05.678Z');
    await file.write({ quick: true } as BenchResult);
    assert.deepEqual(await readdir(folder), ['2026-01-02T03-04-05.678Z.json']);
    await file.write({ quick: false } as BenchResult);
    const latest = await file.publishAsLatest();
    assert.deepEqual(JSON.parse(await readFile(latest, 'utf8')), { quick: false });
    assert.deepEqual((await readdir(folder)).sort(), ['2026-01-02T03-04-05.678Z.json', 'latest.json']);
  } finally {
    await rm(join(folder, '..'), { recursive: true });
  }
});
