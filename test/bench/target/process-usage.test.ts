import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { parseCpuSeconds, readProcessUsage } from '../../../bench/target/load-target.ts';

test('user and system time are read behind a name with spaces and brackets', () => {
  const stat = '4711 (a (b) c) S 1 4711 4711 0 -1 4194304 100 0 0 0 250 75 0 0 20 0 11 0 12345 1000 100';
  assert.equal(parseCpuSeconds(stat), 3.25);
});

test('a process that works uses CPU time, most of it in its main thread', {
  skip: !existsSync('/proc/self/stat'),
}, () => {
  const before = readProcessUsage(process.pid)!;
  const cpuBefore = process.cpuUsage();
  for (let cpu = cpuBefore; cpu.user + cpu.system < 200_000; cpu = process.cpuUsage(cpuBefore)) Math.sqrt(2);
  const after = readProcessUsage(process.pid)!;
  assert.ok(after.allThreadsSeconds - before.allThreadsSeconds >= 0.1);
  assert.ok(after.mainThreadSeconds > before.mainThreadSeconds);
  assert.ok(after.mainThreadSeconds <= after.allThreadsSeconds);
});

test('a process that is gone has no usage', () => {
  assert.equal(readProcessUsage(2 ** 30), null);
});
