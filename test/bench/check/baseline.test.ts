import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  busyMachineWarning,
  compareWithBaseline,
  createBenchBaseline,
  differentMachineWarning,
  formatComparison,
} from '../../../bench/check/baseline.ts';
import { computeResultRatios, type ResultRatioSeries } from '../../../bench/check/ratios.ts';
import { seededRandom } from '../../../bench/population/random.ts';
import {
  computeRelativeSpread,
  computeSlowdownThreshold,
  median,
  summarizeMeasurements,
} from '../../../bench/statistics.ts';
import { measurement, sessionRoute, smallResult } from '../support/small-result.ts';

const better = fc.constantFrom('higher' as const, 'lower' as const);
const values = fc.array(fc.double({ min: 1e-3, max: 1e4, noNaN: true }), { minLength: 1, maxLength: 9 });
const figure = fc.record({ better, values }).map((each): ResultRatioSeries => ({ ...each, name: 'a', part: 'p' }));
const conditions = { storedAt: '', commit: null, machine: smallResult.machine, runs: 5 };

/** Compares a baseline with a run whose speed is the speed of the baseline times a factor. `at` computes the factor from the threshold. */
function compareAt(measured: ResultRatioSeries, at: (threshold: number) => number) {
  const baseline = createBenchBaseline([measured], conditions).figures;
  const { median: middle, threshold } = baseline[0]!;
  const factor = at(threshold);
  const now = measured.better === 'higher' ? middle * factor : middle / factor;
  const { losses, gains, unchanged } = compareWithBaseline(baseline, [{ ...measured, values: [now] }]);
  return [losses.length, gains.length, unchanged];
}

for (const [title, place, at, expected] of [
  ['a loss beyond the threshold', { min: 0.001, max: 0.999 }, (t, x) => (1 - t) * (1 - x), [1, 0, 0]],
  ['a gain beyond the threshold', { min: 1.001, max: 100 }, (t, x) => x / (1 - t), [0, 1, 0]],
  ['neither a loss nor a gain within the threshold', { min: -0.999, max: 0.999 }, (t, x) => (1 - t) ** x, [0, 0, 1]],
] as [string, { min: number; max: number }, (threshold: number, place: number) => number, number[]][]) {
  test(`a comparison with the baseline reports ${title}`, () => {
    fc.assert(
      fc.property(figure, fc.double({ ...place, noNaN: true }), (measured, x) => {
        assert.deepEqual(
          compareAt(measured, (threshold) => at(threshold, x)),
          expected,
        );
      }),
    );
  });
}

test('runs that are equal except for one outlier have a spread of 0, and a spread of 0 has a positive slowdown threshold', () => {
  for (const equal of [[2, 2, 2], [2], [1, 1, 1, 1, 90]]) assert.equal(computeRelativeSpread(equal), 0);
  assert.equal(computeSlowdownThreshold(0), 0.08);
});

test('computes the median without changing the order of the values', () => {
  const values = [3, 1, 2];
  assert.deepEqual(summarizeMeasurements(values), { median: 2, lowest: 1, highest: 3 });
  assert.deepEqual(values, [3, 1, 2]);
  assert.deepEqual([median([100, 20, 3]), median([4, 1, 2, 10])], [20, 3]);
});

test('the estimate of the standard deviation is correct on average for any number of runs', () => {
  const random = seededRandom(1);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  for (const runs of [2, 3, 4, 5, 6, 9, 15]) {
    const spreads = Array.from({ length: 4_000 }, () =>
      computeRelativeSpread(Array.from({ length: runs }, () => Math.exp(0.05 * normal()))),
    );
    const mean = spreads.reduce((sum, spread) => sum + spread, 0) / spreads.length;
    assert.ok(Math.abs(mean - 0.05) < 0.003, `${runs} runs: ${mean}`);
    assert.ok(median(spreads) > 0);
  }
});

test('the threshold of a regression is at most 50 %, even if the runs differ widely', () => {
  fc.assert(
    fc.property(values, (some) => {
      const threshold = computeSlowdownThreshold(computeRelativeSpread(some));
      assert.ok(threshold >= 0.08 && threshold <= 0.5);
    }),
  );
});

const micro = (name: string, medianNs: number) => ({ name, medianNs, p99Ns: 9_999 });
const calibration = micro('calibration', 500);

test('divides route results by the results of the baseline server, and function times by the time of the calibration benchmark', () => {
  const better = 'higher';
  assert.deepEqual(computeResultRatios({ routes: [sessionRoute], micro: [calibration, micro('a/b: c', 1_500)] }), [
    { name: 'session: throughput ratio to bare (wrk)', part: 'session', better, value: 0.4 },
    { name: 'session: CPU ratio to bare (wrk)', part: 'session', better, value: 0.25 },
    { name: 'a/b: c, relative to the calibration', part: 'micro', better: 'lower', value: 3 },
  ]);
});

test('omits ratios of zero, and ratios that cannot be computed without a calibration time or CPU time', () => {
  const servers = [
    { kind: 'service' as const, rounds: [measurement(0, null)] },
    { kind: 'bare' as const, rounds: [measurement(100, null)] },
  ];
  const routes = [{ ...sessionRoute, servers }];
  assert.deepEqual(computeResultRatios({ routes, micro: [micro('a/b: c', 1_500)] }), []);
});

test('prints losses and gains of speed, and lists ratios that are missing in the baseline or in the new runs', () => {
  const ratio = (name: string, value: number) => ({ name, part: 'p', better: 'higher' as const, values: [value] });
  const storedAt = '2026-01-02T03:04:05.000Z';
  const baseline = createBenchBaseline([ratio('session', 0.31), ratio('match', 2), ratio('gone', 1)], {
    ...conditions,
    storedAt,
    commit: 'abc123',
  });
  const verdict = (session: number, match: number) => {
    const measured = [ratio('session', session), ratio('match', match), ratio('new', 1)];
    return formatComparison(baseline, compareWithBaseline(baseline.figures, measured));
  };
  assert.deepEqual(verdict(0.155, 2), [
    'LOSS: session: 0.31 -> 0.155, 50.0 % slower; threshold 8.0 %',
    'not measured now: gone',
    'not in the baseline: new',
    '1 of 2 ratios show a significant loss of speed since the baseline of 2026-01-02, commit abc123.',
  ]);
  const [gain, , , summary, command] = verdict(0.31, 4);
  assert.equal(gain, 'better: match: 2 -> 4, was 50.0 % slower; threshold 8.0 %');
  assert.equal(summary, 'No loss: 1 of 2 figures are within noise of the baseline of 2026-01-02, commit abc123.');
  assert.match(command!, /node bench\/check\/main\.ts --store$/);
});

test('warns if the machine is busy or differs from the baseline machine, but accepts another minor version of Node.js', () => {
  const { machine } = smallResult;
  assert.equal(busyMachineWarning({ ...machine, loadAverage: 1 }), null);
  assert.match(busyMachineWarning({ ...machine, loadAverage: 1.1 })!, /^BUSY MACHINE/);
  const similar = { ...machine, system: 'Linux 7', node: 'v22.1.0', loadAverage: 9 };
  assert.equal(differentMachineWarning(machine, similar), null);
  assert.match(
    differentMachineWarning(machine, { ...machine, cpu: 'Another' })!,
    /^DIFFERENT MACHINE: .*A CPU.*Another/,
  );
  assert.match(differentMachineWarning(machine, { ...machine, node: 'v24.0.0' })!, /^DIFFERENT MACHINE/);
});
