import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  chiSquareUpperTail,
  logBeta,
  logGamma,
  normalQuantileOfUpperTail,
  normalUpperTail,
} from '../../src/statistics/distributions.ts';
import { assertClose, bisect, integrate } from './close-to.ts';

const density = (z: number) => Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);

describe('logGamma', () => {
  it('is the logarithm of a factorial at whole numbers', () => {
    let logFactorial = 0;
    for (let n = 1; n < 5_000; n++) {
      logFactorial += Math.log(n);
      assert.ok(Math.abs(logGamma(n + 1) - logFactorial) <= 1e-12 * Math.max(1, logFactorial));
    }
  });

  it('agrees with the values of the Cephes library at other arguments', () => {
    for (const [x, expected] of [
      [0.5, 0.5723649429247001],
      [1e-5, 11.5129196928958],
      [3.7, 1.4280723266653883],
      [1e6, 12815504.569147611],
    ] as const) {
      assertClose(logGamma(x), expected, 12);
    }
  });

  it('gives the beta function', () => {
    for (const [a, b] of [
      [2.5, 3],
      [1, 1],
      [7, 4.5],
    ] as const) {
      assertClose(
        Math.exp(logBeta(a, b)),
        integrate((x) => x ** (a - 1) * (1 - x) ** (b - 1), 0, 1),
        8,
      );
    }
  });
});

describe('normalUpperTail', () => {
  it('is the integral of the density', () => {
    for (const z of [-9, -3.2, -1, 0, 0.1, 1, 1.96, 2.5, 2.82, 2.83, 2.9, 4, 6]) {
      assertClose(normalUpperTail(z), integrate(density, z, Math.max(z, 0) + 14), 11);
    }
  });

  it('keeps its relative precision far from the mean', () => {
    assertClose(normalUpperTail(8), 6.220960574271785e-16, 12);
    assertClose(normalUpperTail(37), 5.725571222524577e-300, 10);
    assert.equal(normalUpperTail(40), 0);
  });
});

describe('normalQuantileOfUpperTail', () => {
  it('is exceeded with the given probability', () => {
    for (const probability of [0.5, 0.2, 0.025, 0.02, 0.02 / 9, 1e-4, 1e-6]) {
      const z = normalQuantileOfUpperTail(probability);
      assert.ok(Math.abs(z - bisect((x) => integrate(density, x, 14, 2_000) < probability, 0, 6)) < 1e-9);
    }
    assertClose(normalQuantileOfUpperTail(0.025), 1.959963984540054, 13);
  });
});

describe('chiSquareUpperTail', () => {
  it('is the integral of the density, for odd and even degrees of freedom', () => {
    for (let degrees = 1; degrees <= 9; degrees++) {
      const logScale = (degrees / 2) * Math.log(2) + logGamma(degrees / 2);
      for (const x of [0.3, 2, 9, 25, 60]) {
        const tail = integrate((y) => Math.exp((degrees / 2 - 1) * Math.log(y) - y / 2 - logScale), x, x + 150);
        assertClose(chiSquareUpperTail(x, degrees), tail, 8);
      }
      assert.equal(chiSquareUpperTail(0, degrees), 1);
    }
  });
});
