import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkedParts } from '../../../bench/check/measure-ratios.ts';
import { calibrationName } from '../../../bench/micro/micro-benchmark.ts';
import { listMicroBenchmarks } from '../../../bench/micro/micro-part.ts';

test('compares only the routes and the hot functions', () => {
  const names = checkedParts.map(({ name }) => name);
  for (const wanted of ['session', 'click', 'micro']) assert.ok(names.includes(wanted), wanted);
  for (const other of ['limits', 'history', 'crossover']) assert.ok(!names.includes(other), other);
});

test('measures the calibration together with the hot functions in every run', () => {
  assert.ok(listMicroBenchmarks({ quick: true, liveSessions: 0 }).some(({ name }) => name === calibrationName));
});
