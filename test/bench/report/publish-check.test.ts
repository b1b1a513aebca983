import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import {
  type CpuUsage,
  findProblemAfterRun,
  findProblemBeforeRun,
  readCpuUsage,
} from '../../../bench/report/publish-check.ts';

test('refuses to publish from a machine whose load average is above half of its cores', () => {
  assert.equal(findProblemBeforeRun({ loadAverage: 1, cores: 2 }), null);
  assert.match(
    findProblemBeforeRun({ loadAverage: 1.1, cores: 2 })!,
    /load average is 1\.1, above 1 for 2 cores.*Wait until the machine is idle/,
  );
});

test('refuses to publish a run during which other programs used more than a tenth of the processors', () => {
  const before: CpuUsage = { atMs: 5_000, machineSeconds: 1_000, ownSeconds: 20 };
  const after = (machine: number, own: number): CpuUsage => ({
    atMs: 15_000,
    machineSeconds: 1_000 + machine,
    ownSeconds: 20 + own,
  });
  assert.equal(findProblemAfterRun(before, after(17, 15), 2), null);
  assert.match(findProblemAfterRun(before, after(17.2, 14), 2)!, /used 16 % of the processors/);
});

test('counts the CPU time of running and of ended child processes', { skip: readCpuUsage() === null }, async () => {
  const before = readCpuUsage()!;
  const work = 'while (process.cpuUsage().user < 300_000);';
  spawnSync(process.execPath, ['-e', work]);
  const ended = readCpuUsage()!;
  assert.ok(ended.ownSeconds - before.ownSeconds >= 0.3);
  assert.ok(ended.machineSeconds - before.machineSeconds >= 0.3);
  const running = spawn(process.execPath, ['-e', `${work} console.log('done'); setInterval(() => {}, 1_000);`]);
  await once(running.stdout, 'data');
  assert.ok(readCpuUsage()!.ownSeconds - ended.ownSeconds >= 0.3);
  running.kill();
});
