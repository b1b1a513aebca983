import assert from 'node:assert/strict';
import { test } from 'node:test';
import { comparePart } from '../../../bench/check/compare-part.ts';
import {
  type CostPair,
  compareCosts,
  formatComparison,
  medianInterval,
  medianPair,
} from '../../../bench/check/comparison.ts';
import { busyMachineWarning } from '../../../bench/machine.ts';
import { median, summarizeMeasurements } from '../../../bench/statistics.ts';
import { smallResult } from '../support/small-result.ts';

const pair = (name: string, ratio: number): CostPair => ({ name, part: 'p', base: 40, current: 40 * ratio, ratio });
const pairs = (name: string, ratios: readonly number[]) => ratios.map((ratio) => pair(name, ratio));

test('the interval of the median has the ranks of published tables of the sign test', () => {
  for (const [count, rank] of [
    [6, 1],
    [8, 1],
    [9, 2],
    [12, 3],
    [20, 6],
    [25, 8],
  ] as const) {
    const values = Array.from({ length: count }, (_, at) => count - at);
    assert.deepEqual(medianInterval(values), { low: rank, high: count + 1 - rank }, `${count} values`);
  }
  assert.deepEqual(medianInterval([1, 2, 3, 4, 5]), {
    low: Number.NEGATIVE_INFINITY,
    high: Number.POSITIVE_INFINITY,
  });
});

test('a cost is a loss only if the interval of its ratios is above 1', () => {
  const verdict = (ratios: readonly number[]) => compareCosts(pairs('a', ratios)).map((each) => each.verdict);
  assert.deepEqual(verdict([1.1, 1.2, 1.01, 1.3, 1.2, 1.1]), ['slower']);
  assert.deepEqual(verdict([1.1, 1.2, 0.99, 1.3, 1.2, 1.1]), ['same']);
  assert.deepEqual(verdict([0.9, 0.8, 0.99, 0.7, 0.8, 0.9]), ['faster']);
  assert.deepEqual(verdict([1, 1, 1, 1, 1, 1]), ['same']);
  assert.deepEqual(verdict([2, 2, 2, 2, 2]), ['same']);
});

test('the median of pairs is that of the ratios, not the ratio of the medians', () => {
  const rounds = [
    { ...pair('a', 1), base: 10, current: 20, ratio: 2 },
    { ...pair('a', 1), base: 40, current: 40, ratio: 1 },
    { ...pair('a', 1), base: 20, current: 20, ratio: 1 },
  ];
  assert.deepEqual(medianPair(rounds), { name: 'a', part: 'p', base: 20, current: 20, ratio: 1 });
});

const slower = (name: string) => pair(name, 1.1);
const equal = (name: string) => pair(name, 1);

test('measures a possible loss again, and reports it only if both measurements find it', async () => {
  for (const [first, second, verdicts] of [
    [[equal('a'), equal('b')], null, ['same', 'same']],
    [
      [slower('a'), equal('b')],
      [slower('a'), equal('b')],
      ['slower', 'same'],
    ],
    [
      [slower('a'), equal('b')],
      [equal('a'), slower('b')],
      ['same', 'same'],
    ],
  ] as const) {
    const measured: number[] = [];
    const comparisons = await comparePart(6, async (run) => {
      measured.push(run);
      return [...(measured.length <= 6 ? first : second!)];
    });
    assert.deepEqual(
      comparisons.map(({ verdict }) => verdict),
      verdicts,
    );
    assert.equal(measured.length, second === null ? 6 : 12);
  }
});

test('prints a cost with its interval, and marks a loss', () => {
  const [slow, fast] = compareCosts([
    ...pairs('a', [1.1, 1.1, 1.1, 1.1, 1.3, 1.05]),
    ...pairs('b', [0.5, 0.5, 0.5, 0.5, 0.4, 0.6]),
  ]);
  assert.equal(formatComparison(slow!), 'LOSS: a: 40 -> 44, +10.0 % (+5.0 % to +30.0 % in 6 runs)');
  assert.equal(formatComparison(fast!), 'faster: b: 40 -> 20, -50.0 % (-60.0 % to -40.0 % in 6 runs)');
});

test('computes the median without changing the order of the values', () => {
  const values = [3, 1, 2];
  assert.deepEqual(summarizeMeasurements(values), { median: 2, lowest: 1, highest: 3 });
  assert.deepEqual(values, [3, 1, 2]);
  assert.deepEqual([median([100, 20, 3]), median([4, 1, 2, 10])], [20, 3]);
});

test('warns if other processes use more than half of the machine', () => {
  const { machine } = smallResult;
  assert.equal(busyMachineWarning({ ...machine, loadAverage: 1 }), null);
  assert.match(busyMachineWarning({ ...machine, loadAverage: 1.1 })!, /^BUSY MACHINE/);
});
