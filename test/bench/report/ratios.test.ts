import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuRatios, evaluateTargets, throughputRatios } from '../../../bench/report/ratios.ts';
import { measurement, sessionRoute } from '../support/small-result.ts';

test('throughput is compared within a round, then the middle round counts', () => {
  assert.deepEqual(throughputRatios(sessionRoute, 'bare'), { median: 0.4, lowest: 0.3, highest: 0.5 });
});

test('CPU time is compared the other way round, since less is better', () => {
  assert.deepEqual(cpuRatios(sessionRoute, 'bare'), { median: 0.25, lowest: 0.1, highest: 0.5 });
});

test('without CPU figures there is no CPU ratio', () => {
  const servers = sessionRoute.servers.map(({ kind }) => ({ kind, rounds: [measurement(1, null)] }));
  assert.equal(cpuRatios({ servers }, 'bare'), null);
});

test('a baseline that was not measured has no ratio, and a target over it no outcome', () => {
  assert.equal(throughputRatios(sessionRoute, 'fastify'), null);
  assert.deepEqual(evaluateTargets([{ ...sessionRoute, targets: [{ over: 'fastify', ratio: 1 }] }]), []);
});

test('of two clients the one that did not give first judges the target', () => {
  const slow = { ...sessionRoute, client: 'autocannon' as const, clientSaturated: true, targets: [] };
  const [outcome, ...others] = evaluateTargets([slow, sessionRoute]);
  assert.deepEqual(others, []);
  assert.deepEqual(outcome, { route: 'session', over: 'bare', target: 0.35, reached: true });
});

test('two baselines are compared like the service with one', () => {
  assert.deepEqual(throughputRatios(sessionRoute, 'bare', 'synced'), { median: 0.8, lowest: 0.45, highest: 0.8 });
});
