import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readMeasurements, trimBenchResult } from '../../bench/capacity/benchmark-result.ts';
import { CapacityPlanError } from '../../bench/capacity/input-file.ts';
import { routeNames, type TrafficMixFile } from '../../bench/capacity/traffic-mix.ts';
import { mix, near, point, route, sampleResult } from './sample-result.ts';

const read = (changes: object = {}, mixChanges: Partial<TrafficMixFile> = {}) =>
  readMeasurements(sampleResult(changes), mix(mixChanges));
const sessionsOnly = { per_100_sessions: {} };

/** Asserts a `CapacityPlanError` in one line that names the command to run. */
function assertRefused(run: () => unknown, message: RegExp): void {
  assert.throws(run, (error: unknown) => {
    assert(error instanceof CapacityPlanError);
    assert.match(error.message, message);
    assert.match(error.message, /; (run )?make bench/);
    assert.match(error.message, /^\P{Cc}*$/u);
    return true;
  });
}

test('reads the CPU time per request of the service, not of the baseline servers', () => {
  const { costs, box, curve } = read();
  assert.deepEqual(
    costs,
    Object.fromEntries(routeNames.map((name) => [name, { socketThreadMicros: 40, allThreadsMicros: 60 }])),
  );
  assert.deepEqual([box.cores, box.memory_mib, box.commit], [4, 16_384, '0123abc']);
  assert.equal(curve.points.length, 4);
});

test('uses the median CPU time of all benchmark rounds of a route', () => {
  const routes = [30, 50, 90].map((micros) => route('session', micros, micros));
  assert.deepEqual(read({ routes }, sessionsOnly).costs.session, { socketThreadMicros: 50, allThreadsMicros: 50 });
});

test('requires measurements only for the routes of the traffic mix', () => {
  const routes = [route('session', 40, 60)];
  assert.deepEqual(Object.keys(read({ routes }, sessionsOnly).costs), ['session']);
  assertRefused(() => read({ routes }), /^lacks measurements of the route inputs/);
});

test('adds up the disk bytes per session from all entries in `history`', () => {
  const figure = { name: 'sample' };
  assert.equal(read({ history: [figure] }).diskBytesPerSession, null);
  const history = [figure, { ...figure, bytesPerSession: 75 }, { ...figure, bytesPerSession: 125 }];
  assert.equal(read({ history }).diskBytesPerSession, 200);
});

test('sorts the points of a latency curve by rate', () => {
  const [curve] = sampleResult().curves;
  const shuffled = [{ ...curve!, points: curve!.points.toReversed() }];
  assert.deepEqual(read({ curves: shuffled }).curve, read().curve);
});

test('computes the memory use of a server without sessions', () => {
  const { memory } = sampleResult();
  const points = [{ sessions: 100_000, rssMiB: 300 }];
  const { baseResidentMiB } = read({ memory: { ...memory, points } }).memory;
  near(baseResidentMiB, 300 - 153_600_000 / 2 ** 20);
});

test('rejects an incomplete benchmark result and names the command to run', () => {
  assertRefused(() => read({ curves: [] }), /^lacks the latency curve over offered load/);
  assertRefused(() => read({ memory: null }), /^lacks the memory use of live sessions/);
  const { memory, curves } = sampleResult();
  const unusable = { ...memory, heapBytes: -3, residentBytes: -3 };
  assertRefused(() => read({ memory: unusable }), /^lacks a usable value of the memory/);
  const routes = [route('session', null, null)];
  assertRefused(
    () => read({ routes }, sessionsOnly),
    /^lacks the CPU time of the route session; run make bench on Linux/,
  );
  const unreported = [{ ...curves[0]!, points: [point(1_000, 1, null)] }];
  assertRefused(() => read({ curves: unreported }), /^lacks the CPU time on the latency curve/);
});

test('rejects values that are not benchmark results or have another format version', () => {
  assertRefused(() => readMeasurements({ format: 1 }, mix()), /^has format 1, not 2/);
  for (const value of [{}, null, [], 'text', { format: '\u001b[2J' }]) {
    assertRefused(() => readMeasurements(value, mix()), /^is not a benchmark result/);
  }
  assertRefused(() => readMeasurements({ format: 2 }, mix()), /^is not a benchmark result: the file must have/);
  const result = sampleResult();
  const invalid = { ...result, curves: [{ ...result.curves[0]!, points: [{ offeredPerSecond: '5' }] }] };
  assertRefused(() => readMeasurements(invalid, mix()), /^is not a benchmark result: curves\.0\.points\.0/);
});

test('trimBenchResult keeps all measurements that capacity plans need', () => {
  const result = sampleResult();
  const trimmed = trimBenchResult(result);
  assert.deepEqual(readMeasurements(trimmed, mix()), readMeasurements(result, mix()));
  assert.deepEqual(Object.keys(trimmed.machine), ['cpu', 'cores', 'memoryGiB', 'loadAverage']);
  assert.equal('limits' in trimmed, false);
  assert.deepEqual(trimBenchResult(trimmed), trimmed);
});
