import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { BenchResult } from '../../../bench/result/bench-result.ts';
import { ResultFile } from '../../../bench/result/result-file.ts';

test('writes each run to a separate file after its first part, and marks a finished run as the latest', async () => {
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
