import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ratiosOfResult } from '../../../bench/check/ratios.ts';
import { measurement, sessionRoute } from '../support/small-result.ts';

const calibration = { name: 'calibration', medianNs: 500, p99Ns: 900 };

test('of a route its ratios to the bare server are compared, by client', () => {
  assert.deepEqual(ratiosOfResult({ routes: [sessionRoute], micro: [] }), [
    { name: 'session: throughput over bare (wrk)', part: 'session', better: 'higher', value: 0.4 },
    { name: 'session: CPU of bare over that of the service (wrk)', part: 'session', better: 'higher', value: 0.25 },
  ]);
});

test('of a hot function it is what it costs beside the calibration of the same run', () => {
  const micro = [calibration, { name: 'a/b: c', medianNs: 1_500, p99Ns: 9_999 }];
  assert.deepEqual(ratiosOfResult({ routes: [], micro }), [
    { name: 'a/b: c: cost in calibrations', part: 'micro', better: 'lower', value: 3 },
  ]);
});

test('absolute times are never compared', () => {
  assert.deepEqual(ratiosOfResult({ routes: [], micro: [{ name: 'a/b: c', medianNs: 1_500, p99Ns: 9_999 }] }), []);
});

test('what is the disk or chance is left out', () => {
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

test('a ratio that is no number above 0 is left out', () => {
  const servers = [
    { kind: 'service' as const, rounds: [measurement(0, null)] },
    { kind: 'bare' as const, rounds: [measurement(100, null)] },
  ];
  assert.deepEqual(ratiosOfResult({ routes: [{ ...sessionRoute, servers }], micro: [] }), []);
});
