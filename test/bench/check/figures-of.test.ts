import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ratiosOfResult } from '../../../bench/check/ratios.ts';
import { measurement, sessionRoute } from '../support/small-result.ts';

const calibration = { name: 'calibration', medianNs: 500, p99Ns: 900 };

test('compares the ratios of a route to the bare server, separately for each client', () => {
  assert.deepEqual(ratiosOfResult({ routes: [sessionRoute], micro: [] }), [
    { name: 'session: throughput over bare (wrk)', part: 'session', better: 'higher', value: 0.4 },
    { name: 'session: CPU of bare over that of the service (wrk)', part: 'session', better: 'higher', value: 0.25 },
  ]);
});

test('compares the ratio of a hot function to the calibration of the same run', () => {
  const micro = [calibration, { name: 'a/b: c', medianNs: 1_500, p99Ns: 9_999 }];
  assert.deepEqual(ratiosOfResult({ routes: [], micro }), [
    { name: 'a/b: c: cost in calibrations', part: 'micro', better: 'lower', value: 3 },
  ]);
});

test('never compares absolute times', () => {
  assert.deepEqual(ratiosOfResult({ routes: [], micro: [{ name: 'a/b: c', medianNs: 1_500, p99Ns: 9_999 }] }), []);
});

test('omits figures that depend on the disk or on chance', () => {
  const micro = [
    calibration,
    { name: 'a/b: append, synced', medianNs: 1_500, p99Ns: 9_999 },
    { name: 'a/b: append, not synced', medianNs: 1_500, p99Ns: 9_999 },
    { name: 'a/b: grow', medianNs: 1_500, p99Ns: 9_999, worstNs: 99_999 },
  ];
  assert.deepEqual(
    ratiosOfResult({ routes: [], micro }).map(({ name }) => name),
    ['a/b: append, not synced: cost in calibrations'],
  );
});

test('omits a ratio that is not a positive number', () => {
  const servers = [
    { kind: 'service' as const, rounds: [measurement(0, null)] },
    { kind: 'bare' as const, rounds: [measurement(100, null)] },
  ];
  assert.deepEqual(ratiosOfResult({ routes: [{ ...sessionRoute, servers }], micro: [] }), []);
});
