import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuRatios, evaluateTargets, throughputRatios } from '../../../bench/report/ratios.ts';
import { measurement, sessionRoute } from '../support/small-result.ts';

test('compares throughput within each round, and reports the median round', () => {
  assert.deepEqual(throughputRatios(sessionRoute, 'bare'), { median: 0.4, lowest: 0.3, highest: 0.5 });
});

test('inverts the ratio of CPU time, because less CPU time is better', () => {
  assert.deepEqual(cpuRatios(sessionRoute, 'bare'), { median: 0.25, lowest: 0.1, highest: 0.5 });
});

test('computes no CPU ratio without CPU times', () => {
  const servers = sessionRoute.servers.map(({ kind }) => ({ kind, rounds: [measurement(1, null)] }));
  assert.equal(cpuRatios({ servers }, 'bare'), null);
});

test('computes no ratio for a baseline that was not measured, and no result for the target of that baseline', () => {
  assert.equal(throughputRatios(sessionRoute, 'fastify'), null);
  assert.deepEqual(evaluateTargets([{ ...sessionRoute, targets: [{ over: 'fastify', ratio: 1 }] }]), []);
});

test('checks a target with the client that was not saturated first', () => {
  const slow = { ...sessionRoute, client: 'autocannon' as const, clientSaturated: true, targets: [] };
  const [outcome, ...others] = evaluateTargets([slow, sessionRoute]);
  assert.deepEqual(others, []);
  assert.deepEqual(outcome, { route: 'session', over: 'bare', target: 0.35, reached: true });
});

test('compares two baselines in the same way as the service and a baseline', () => {
  assert.deepEqual(throughputRatios(sessionRoute, 'bare', 'synced'), { median: 0.8, lowest: 0.45, highest: 0.8 });
});
