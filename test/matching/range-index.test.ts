import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import { addOffer, emptyOfferSet, hasOffer } from '../../src/matching/offer-set.ts';
import { RangeIndex } from '../../src/matching/range-index.ts';

/** Ranges with few or many different ends, some of them open, some of them empty. */
const ranges = fc.integer({ min: 3, max: 400 }).chain((spread) => {
  const end = fc.integer({ min: -1, max: spread });
  const range = fc.tuple(
    fc.oneof({ weight: 8, arbitrary: end }, { weight: 1, arbitrary: fc.constant(Number.NEGATIVE_INFINITY) }),
    fc.oneof({ weight: 8, arbitrary: end }, { weight: 1, arbitrary: fc.constant(Number.POSITIVE_INFINITY) }),
  );
  return fc.array(range, { minLength: 1, maxLength: 3 * bounds.rangeIndexBucketsMax, size: 'max' });
});

test('returns exactly the offers whose range contains the value', () => {
  fc.assert(
    fc.property(
      ranges,
      fc.array(fc.integer({ min: -2, max: 402 }), { maxLength: 40 }),
      fc.nat(),
      (list, values, gap) => {
        const index = new RangeIndex(
          Float64Array.from(list, ([min]) => min),
          Float64Array.from(list, ([, max]) => max),
        );
        for (const value of [...values, list[0]![0], list[0]![1], list[0]![1] + 1].filter(Number.isFinite)) {
          const eligible = emptyOfferSet(list.length);
          for (const offer of list.keys()) if (offer % 5 !== gap % 5) addOffer(eligible, offer);
          index.filterOffers(eligible, value);
          for (const [offer, [min, max]] of list.entries()) {
            const expected = offer % 5 !== gap % 5 && min <= value && value <= max;
            assert.equal(hasOffer(eligible, offer), expected, `${value} of ${min} to ${max}`);
          }
        }
      },
    ),
    { numRuns: process.env.MATCH_BORROWERS === undefined ? 50 : 200 },
  );
});
