import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pickAtShare, seededRandom, standardNormal, standardNormalCdf } from '../../../bench/population/random.ts';

test('generates the same numbers for the same seed, and other numbers for another seed', () => {
  const take = (seed: number) => Array.from({ length: 5 }, seededRandom(seed));
  assert.deepEqual(take(7), take(7));
  assert.notDeepEqual(take(7), take(8));
});

test('generates the numbers of mulberry32, so that a seed always generates the same borrowers', () => {
  const random = seededRandom(1);
  assert.deepEqual([random(), random(), random()], [0.6270739405881613, 0.002735721180215478, 0.5274470399599522]);
});

test('distributes numbers evenly over [0, 1)', () => {
  const random = seededRandom(3);
  const tenths = new Array<number>(10).fill(0);
  for (let i = 0; i < 100_000; i++) tenths[Math.floor(random() * 10)]! += 1;
  for (const count of tenths) assert.ok(Math.abs(count - 10_000) < 400, String(count));
});

test('selects the values of a weighted table in order, in proportion to their weights', () => {
  const table = [['a', 1] as const, ['b', 2] as const, ['c', 1] as const];
  assert.deepEqual(
    [0, 0.24, 0.25, 0.74, 0.75, 0.999].map((at) => pickAtShare(table, at)),
    ['a', 'a', 'b', 'b', 'c', 'c'],
  );
});

test('computes the normal distribution function as in the published tables', () => {
  for (const [z, share] of [
    [-1.959964, 0.025],
    [-1, 0.1586553],
    [0, 0.5],
    [1.644854, 0.95],
    [3, 0.9986501],
  ] as const) {
    assert.ok(Math.abs(standardNormalCdf(z) - share) < 1e-6, `${z}`);
  }
});

test('generates normally distributed numbers with mean 0 and standard deviation 1', () => {
  const random = seededRandom(5);
  let sum = 0;
  let squares = 0;
  for (let i = 0; i < 100_000; i++) {
    const z = standardNormal(random);
    sum += z;
    squares += z * z;
  }
  assert.ok(Math.abs(sum / 100_000) < 0.02);
  assert.ok(Math.abs(squares / 100_000 - 1) < 0.02);
});
