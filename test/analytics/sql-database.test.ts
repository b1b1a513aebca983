import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decodeVarints, encodeVarints } from '../../src/analytics/sql-database.ts';

describe('varints', () => {
  it('decodeVarints returns the numbers that encodeVarints encoded', () => {
    const number = fc.oneof(fc.nat({ max: 300 }), fc.constantFrom(127, 128, 16_383, 16_384), fc.maxSafeNat());
    fc.assert(
      fc.property(fc.array(number), (numbers) => {
        assert.deepEqual(decodeVarints(encodeVarints(numbers)), numbers);
      }),
    );
  });

  it('encodeVarints uses one byte for each number up to 127, and returns null for an empty list', () => {
    assert.equal(encodeVarints([1, 2, 127])?.length, 3);
    assert.equal(encodeVarints([]), null);
  });
});
