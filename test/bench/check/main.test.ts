import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { BenchResult } from '../../../bench/result/bench-result.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { smallResult } from '../support/small-result.ts';

const main = fileURLToPath(new URL('../../../bench/check/main.ts', import.meta.url));
const folder = temporaryFolder();

function run(...args: string[]) {
  return spawnSync(process.execPath, [main, ...args], { encoding: 'utf8' });
}

/** Writes a result file with one hot function of a given duration in nanoseconds, and a calibration of 1,000 ns. */
async function resultFile(name: string, medianNs: number): Promise<string> {
  const file = join(folder, name);
  const micro = [
    { name: 'calibration', medianNs: 1_000, p99Ns: 2_000 },
    { name: 'a/b: c', medianNs, p99Ns: 9_999 },
  ];
  await writeFile(file, JSON.stringify({ ...smallResult, micro } satisfies BenchResult));
  return file;
}

test('compares runs with the stored baseline, and exits with code 1 if a ratio became worse', async () => {
  const baseline = join(folder, 'baseline.json');
  const before = ['--from', await resultFile('1.json', 500), '--from', await resultFile('2.json', 510)];
  const stored = run('--store', '--baseline', baseline, ...before);
  assert.deepEqual([stored.status, stored.stderr.includes('no baseline')], [0, false]);
  assert.match(stored.stdout, /3 figures of 2 runs stored/);

  const same = run('--baseline', baseline, '--from', await resultFile('3.json', 507));
  assert.equal(same.status, 0, same.stderr);
  assert.match(same.stdout, /^No loss: 3 of 3 figures/);

  const slower = run('--baseline', baseline, '--from', await resultFile('4.json', 800));
  assert.equal(slower.status, 1, slower.stderr);
  assert.match(slower.stdout, /^LOSS: a\/b: c, relative to the calibration: 0\.505 -> 0\.8, /);
  assert.equal(slower.stdout.match(/^LOSS/gm)!.length, 1);

  const faster = run('--baseline', baseline, '--from', await resultFile('5.json', 250));
  assert.equal(faster.status, 0, faster.stderr);
  assert.match(faster.stdout, /^better: a\/b: c/);
});

test('warns about noisy runs, and exits with code 2 if no ratio can be compared with the baseline', async () => {
  const baseline = join(folder, 'noisy.json');
  const runs = ['--from', await resultFile('7.json', 500), '--from', await resultFile('8.json', 5_000)];
  const stored = run('--store', '--baseline', baseline, ...runs);
  assert.equal(stored.status, 0);
  assert.match(stored.stderr, /1 OF 3 RATIOS ARE TOO NOISY/);
  const nothing = join(folder, 'nothing.json');
  await writeFile(nothing, JSON.stringify({ ...smallResult, routes: [], micro: [] }));
  const { status, stdout, stderr } = run('--baseline', baseline, '--from', nothing);
  assert.deepEqual({ status, stdout }, { status: 2, stdout: '' });
  assert.match(stderr, /the baseline has none of the measured ratios/);
});

test('exits with code 2 for a missing baseline, an invalid file or an invalid option', async () => {
  const missing = run('--baseline', join(folder, 'none.json'));
  assert.match(missing.stderr, /no baseline; .*bench\/check\/main\.ts --store/);
  const broken = join(folder, 'broken.json');
  await writeFile(broken, '{"format":9}');
  for (const args of [
    ['--baseline', broken],
    ['--store', '--from', broken],
    ['--repeat', '0'],
    ['--client', 'curl'],
    ['--fast'],
  ]) {
    const { status, stdout } = run(...args);
    assert.deepEqual([status, stdout], [2, ''], args.join(' '));
  }
  const { status, stdout } = run('--help');
  assert.equal(status, 0);
  for (const option of ['--store', '--repeat', '--client', '--baseline', '--from']) assert.ok(stdout.includes(option));
});
