import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { assignArm } from '../../src/index.ts';
import { splitChiSquareP } from '../../src/statistics/split-check.ts';
import { seededRandom } from '../support/random-catalog.ts';

/** Fractions of the units in the documentation. */
const guide = readFileSync(new URL('../../docs/contract.md', import.meta.url), 'utf8');
const vectors = [...guide.matchAll(/^\| `([\w-]+)` \| `([\w-]+)` \| (0\.\d{10}) \|$/gm)].map(
  ([, name, unitId, fraction]) => [name!, unitId!, Number(fraction)] as const,
);

const armsOf = (...weights: readonly number[]) => weights.map((weight, index) => ({ weight, index }));

/** Returns the fraction of a unit, as documented, computed with big integers. */
function fractionOf(name: string, unitId: string): number {
  const digest = createHash('sha256').update(`${name}.${unitId}`, 'utf8').digest('hex');
  return Number(BigInt(`0x${digest}`) >> 208n) / Number(1n << 48n);
}

test('assigns the documented units by their documented fractions', () => {
  assert.equal(vectors.length, 4);
  for (const [name, unitId, fraction] of vectors) {
    assert.equal(fractionOf(name, unitId).toFixed(10), fraction.toFixed(10));
    for (const [cut, expected] of [
      [fraction - 1e-9, 1],
      [fraction + 1e-9, 0],
    ] as const) {
      assert.equal(assignArm(name, unitId, armsOf(cut, 1 - cut)).index, expected);
    }
  }
});

test('assigns the documented units to the documented arms', () => {
  const arms = vectors.map(([name, unitId]) => assignArm(name, unitId, armsOf(0.5, 0.3, 0.2)).index);
  assert.deepEqual(arms, [1, 1, 0, 2]);
});

test('a unit is in the first arm whose cumulative weight is above its fraction', () => {
  for (const unitId of ['u0', 'u1', 'u2', 'Zoë', '1', '']) {
    const fraction = fractionOf('hero-test', unitId);
    const next = fraction + 2 ** -48;
    for (const [weights, expected] of [
      [[1], 0],
      [[fraction, 1 - fraction], 1],
      [[next, 1 - next], 0],
      [[fraction / 2, fraction / 2, 1 - fraction], 2],
      [[fraction / 2, next - fraction / 2, 1 - next], 1],
      // The last arm gets the rest.
      [[fraction / 2, fraction / 2 - 1e-10, 1 - fraction], 2],
    ] as const) {
      assert.equal(assignArm('hero-test', unitId, armsOf(...weights)).index, expected, `${unitId} ${weights}`);
    }
  }
});

test('a unit is in the last arm if the weights add up to slightly less than its fraction', () => {
  // Of a billion units, one has such a fraction.
  const unitId = 'u1094768153';
  const weights = [0.5, 0.5 - 5e-10];
  assert.ok(fractionOf('hero-test', unitId) > weights[0]! + weights[1]!);
  assert.equal(assignArm('hero-test', unitId, armsOf(...weights)).index, 1);
});

test('splits 100,000 units by the weights, and independently of another experiment', () => {
  const random = seededRandom(22);
  const weights = [0.5, 0.3, 0.2];
  const units = Array.from({ length: 100_000 }, () => random().toString(36).slice(2));
  const arms = armsOf(...weights);
  const counts = weights.map((weight) => ({ weight, units: 0 }));
  const pairs = weights.flatMap((one) => weights.map((other) => ({ weight: one * other, units: 0 })));
  for (const unitId of units) {
    const { index } = assignArm('hero-test', unitId, arms);
    counts[index]!.units++;
    pairs[index * weights.length + assignArm('other-test', unitId, arms).index]!.units++;
  }
  for (const split of [counts, pairs]) {
    const p = splitChiSquareP(split)!;
    assert.ok(p > 0.01, `p = ${p}: ${JSON.stringify(split)}`);
  }
  // The same test finds a deviation of one percent of the units.
  const biased = counts.map((arm, index) => ({ ...arm, units: arm.units + [1_000, -1_000, 0][index]! }));
  assert.ok(splitChiSquareP(biased)! < 1e-6);
});

test('rejects weights that do not add up to 1, and weights that are not positive', () => {
  for (const weights of [[], [50, 50], [0.5, 0.4], [0.5, 0.500001], [1.5, -0.5], [1, 0], [Number.NaN, 1]]) {
    assert.throws(() => assignArm('hero-test', 'u0', armsOf(...weights)), RangeError, `${weights}`);
  }
  assert.equal(assignArm('hero-test', 'u2', armsOf(...Array(10).fill(0.1))).index, 1);
});
