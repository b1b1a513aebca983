import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMeasurements } from '../../src/capacity/benchmark-result.ts';
import { type CheckMeasurements, compareWithPlan, planCapacity } from '../../src/capacity/plan.ts';
import { defaultTrafficMixFile, toTrafficMix } from '../../src/capacity/traffic-mix.ts';
import { sampleResult } from './sample-result.ts';

const mix = toTrafficMix(defaultTrafficMixFile);
const plan = planCapacity(readMeasurements(JSON.stringify(sampleResult()), mix), mix, {
  keys: 1_000,
  sloP99Ms: 35,
  headroom: 0.2,
});
const asPlanned: CheckMeasurements = {
  seconds: 60,
  offeredPerSecond: plan.load.requestsPerSecond,
  achievedPerSecond: plan.load.requestsPerSecond,
  refused: 0,
  failed: 0,
  p99Ms: 20,
  socketThreadCores: plan.predicted.socketThreadCores * 2,
  allThreadsCores: plan.predicted.allThreadsCores / 2,
  residentMiB: 900,
  memoryMiB: 120 + (100_000 * 1_536) / 2 ** 20,
  liveSessions: 100_000,
  keys: 700,
  clientSaturated: false,
};

test('computes the error of the prediction in percent of the measurement', () => {
  const errors = Object.fromEntries(
    compareWithPlan(plan, asPlanned).rows.map(({ figure, errorPercent }) => [figure, Math.round(errorPercent!)]),
  );
  const p99 = Math.round((plan.predicted.p99Ms / 20 - 1) * 100);
  assert.deepEqual(errors, { rate: 0, p99, 'socket-thread': -50, 'all-threads': 100, memory: 0 });
});

test('has no error for values that the system does not report', () => {
  const unreported = { ...asPlanned, socketThreadCores: null, allThreadsCores: null, memoryMiB: null };
  const { rows, carried } = compareWithPlan(plan, unreported);
  assert.deepEqual(
    rows.filter(({ errorPercent }) => errorPercent === null).map(({ figure }) => figure),
    ['socket-thread', 'all-threads', 'memory'],
  );
  assert(carried);
});

for (const [name, changes] of [
  ['a refused request', { refused: 1 }],
  ['a failed request', { failed: 1 }],
  ['a p99 above the target', { p99Ms: 35.1 }],
  ['a backlog at the end', { achievedPerSecond: plan.load.requestsPerSecond * 0.97 }],
] as const) {
  test(`does not meet the target with ${name}`, () => {
    assert(!compareWithPlan(plan, { ...asPlanned, ...changes }).carried);
  });
}
