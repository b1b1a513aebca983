import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { microsToUsd, roundHalfUp, usdToExactMicros } from '../../src/domain/money.ts';

/** Formats an integer number of units of `10 ** -decimals`. */
function decimalText(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

describe('roundHalfUp', () => {
  it('roundHalfUp rounds a half up, also if the nearest floating-point number is slightly below the half', () => {
    assert.equal(roundHalfUp(1.005, 2), 1.01);
    assert.equal(roundHalfUp(8.345, 2), 8.35);
    assert.equal(roundHalfUp(0.285, 2), 0.29);
    assert.equal(roundHalfUp(0.5, 0), 1);
    assert.equal(roundHalfUp(0.0000005, 6), 0.000001);
  });

  it('roundHalfUp does not change a value that is already rounded, and rounds down if the remainder is below one half', () => {
    for (const value of [0, 1, 0.1, 0.07, 341.48, 17.59, 99_999.99]) assert.equal(roundHalfUp(value, 2), value);
    assert.equal(roundHalfUp(1_000_000.00499, 2), 1_000_000);
    assert.equal(roundHalfUp(5_000_000_000.001, 2), 5_000_000_000);
    assert.deepEqual([roundHalfUp(-2.5, 0), roundHalfUp(-1.26, 1)], [-2, -1.3]);
  });

  it('roundHalfUp rounds amounts with three decimals as in decimal arithmetic', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10_000_000_000n }), (thousandths) => {
        const expected = Number(decimalText((thousandths + 5n) / 10n, 2));
        assert.equal(roundHalfUp(Number(decimalText(thousandths, 3)), 2), expected);
      }),
    );
  });
});

describe('microsToUsd', () => {
  it('microsToUsd is exact for all valid amounts', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 9_000_000_000_000_000n }), (micros) => {
        const usd = microsToUsd(Number(micros));
        assert.equal(usd, Number(decimalText(micros, 6)));
        if (usd < 1e9) assert.equal(usdToExactMicros(usd), Number(micros));
      }),
    );
  });

  it('usdToExactMicros accepts up to six decimals', () => {
    for (const [usd, micros] of [
      [0, 0],
      [-0, 0],
      [0.000001, 1],
      [4.35, 4_350_000],
      [999_999_999.999999, 999_999_999_999_999],
    ] as const) {
      assert.equal(usdToExactMicros(usd), micros);
    }
    for (const usd of [1e-7, 0.1234567, -1, 1e9, 1e21, Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.equal(usdToExactMicros(usd), null, String(usd));
    }
  });
});
