import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BenchResult } from '../../bench/result/bench-result.ts';
import { readMeasurements, trimBenchmarkResult } from '../../src/capacity/benchmark-result.ts';
import { CapacityError } from '../../src/capacity/capacity-error.ts';
import {
  defaultTrafficMixFile,
  routeNames,
  type TrafficMixFile,
  toTrafficMix,
} from '../../src/capacity/traffic-mix.ts';
import { point, route, sampleResult } from './sample-result.ts';

const read = (changes: Partial<BenchResult> = {}, mix: Partial<TrafficMixFile> = {}) =>
  readMeasurements(JSON.stringify(sampleResult(changes)), toTrafficMix({ ...defaultTrafficMixFile, ...mix }));
const sessionsOnly = { per_100_sessions: {} };

/** That it is refused in one line that says which command makes what is missing. */
function refuses(work: () => unknown, told: RegExp): void {
  assert.throws(work, (error: unknown) => {
    assert(error instanceof CapacityError);
    assert.match(error.message, told);
    assert.match(error.message, /; make bench /);
    assert.match(error.message, /^\P{Cc}*$/u);
    return true;
  });
}

test('a result gives the costs of the service, not of the baselines', () => {
  const { costs, box, curve } = read();
  assert.deepEqual(
    costs,
    Object.fromEntries(routeNames.map((name) => [name, { socketThreadMicros: 40, allThreadsMicros: 60 }])),
  );
  assert.deepEqual([box.cores, box.memoryMiB, box.commit], [4, 16_384, '0123abc']);
  assert.equal(curve.points.length, 4);
});

test('a route that was measured with two clients costs the middle of all rounds', () => {
  const routes = [30, 50, 90].map((micros) => route('session', { socketThread: micros, allThreads: micros }));
  assert.deepEqual(read({ routes }, sessionsOnly).costs.session, { socketThreadMicros: 50, allThreadsMicros: 50 });
});

test('only the routes of the mix are needed', () => {
  const routes = [route('session', { socketThread: 40, allThreads: 60 })];
  assert.deepEqual(Object.keys(read({ routes }, sessionsOnly).costs), ['session']);
  refuses(() => read({ routes }), /^lacks figures of the route inputs/);
});

test('what each session leaves on disk is added up over all that tell it', () => {
  const figure = { name: 'made up', value: '1', beside: '-' };
  assert.equal(read({ history: [figure] }).diskBytesPerSession, null);
  const history = [figure, { ...figure, bytesPerSession: 75 }, { ...figure, bytesPerSession: 125 }];
  assert.equal(read({ history }).diskBytesPerSession, 200);
});

test('the points of a curve are taken by rising rate', () => {
  const [curve] = sampleResult().curves;
  const shuffled = [{ ...curve!, points: curve!.points.toReversed() }];
  assert.deepEqual(read({ curves: shuffled }).curve, read().curve);
});

test('an empty server takes what is left of the least memory without its sessions', () => {
  const { memory } = sampleResult();
  const points = [{ sessions: 100_000, heapUsedMiB: 150, rssMiB: 300 }];
  const { baseResidentMiB } = read({ memory: { ...memory!, points } }).memory;
  assert(Math.abs(baseResidentMiB - (300 - 153_600_000 / 2 ** 20)) < 1e-9);
});

test('a result that lacks something is refused with the command that makes it', () => {
  refuses(() => read({ curves: [] }), /^lacks the curve of latency against offered load/);
  refuses(() => read({ memory: null }), /^lacks the memory of live sessions/);
  const { memory, curves } = sampleResult();
  refuses(
    () => read({ memory: { ...memory!, heapBytes: -3, residentBytes: -3 } }),
    /^lacks a usable figure of the memory/,
  );
  const routes = [route('session', { socketThread: null, allThreads: null })];
  refuses(
    () => read({ routes }, sessionsOnly),
    /^has no CPU time of the route session; make bench measures it on Linux/,
  );
  const untold = [{ ...curves[0]!, points: [point(1_000, { p99: 1, cpu: null })] }];
  refuses(() => read({ curves: untold }), /^has no CPU time on the curve/);
});

test('what is no result, or one of another format, is refused', () => {
  const mix = toTrafficMix(defaultTrafficMixFile);
  refuses(() => readMeasurements('{"format":1}', mix), /^has format 1, not 2/);
  for (const text of ['{}', 'null', '[]', '"text"', '{"format":"\\u001b[2J"}']) {
    refuses(() => readMeasurements(text, mix), /^is no result of benchmarks/);
  }
  refuses(() => readMeasurements('{"format":2}', mix), /^is no result of benchmarks: the whole of it must have/);
  assert.throws(() => readMeasurements('{"format":', mix), /^CapacityError: is not JSON$/);
  const result = sampleResult();
  const odd = { ...result, curves: [{ ...result.curves[0]!, points: [{ offeredPerSecond: '5' }] }] };
  refuses(() => readMeasurements(JSON.stringify(odd), mix), /^is no result of benchmarks: curves\.0\.points\.0/);
});

test('a trimmed result gives the same figures from only what they are read from', () => {
  const text = JSON.stringify(sampleResult());
  const trimmed = trimBenchmarkResult(text);
  const mix = toTrafficMix(defaultTrafficMixFile);
  assert.deepEqual(readMeasurements(trimmed, mix), readMeasurements(text, mix));
  assert.deepEqual(JSON.parse(trimmed).limits, undefined);
  assert.deepEqual(Object.keys(JSON.parse(trimmed).machine), ['cpu', 'cores', 'memoryGiB', 'loadAverage']);
  assert.equal(trimBenchmarkResult(trimmed), trimmed);
});
