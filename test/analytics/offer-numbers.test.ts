import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { decodeOfferNumbers, encodeOfferNumbers } from '../../src/analytics/offer-numbers.ts';

describe('offer numbers', () => {
  it('come back as they were, in their order', () => {
    const number = fc.oneof(fc.nat({ max: 300 }), fc.constantFrom(127, 128, 16_383, 16_384), fc.maxSafeNat());
    fc.assert(
      fc.property(fc.array(number), (numbers) => {
        assert.deepEqual(decodeOfferNumbers(encodeOfferNumbers(numbers)), numbers);
      }),
    );
  });

  it('take one byte each for a small catalog, and nothing for none', () => {
    assert.equal(encodeOfferNumbers([1, 2, 127])?.length, 3);
    assert.equal(encodeOfferNumbers([]), null);
  });
});
