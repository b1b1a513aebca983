import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { parseCpuSeconds, readProcessUsage } from '../../../bench/target/load-target.ts';

test('parses user and system time of a process whose name contains spaces and brackets', () => {
  const stat = '4711 (a (b) c) S 1 4711 4711 0 -1 4194304 100 0 0 0 250 75 0 0 20 0 11 0 12345 1000 100';
  assert.equal(parseCpuSeconds(stat), 3.25);
});

test('measures the CPU time of a busy process, most of it in the main thread', {
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

test('returns no usage for a process that has ended', () => {
  assert.equal(readProcessUsage(2 ** 30), null);
});
