import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { exceedsCodePoints } from '../../src/domain/text.ts';

describe('isLongerThan', () => {
  it('counts code points, not UTF-16 units', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.nat(20), (text, max) => {
        assert.equal(exceedsCodePoints(text, max), [...text].length > max);
      }),
    );
  });

  it('takes an unpaired surrogate for one character', () => {
    assert.equal(exceedsCodePoints('\ud800\ud800', 2), false);
    assert.equal(exceedsCodePoints('\ud800\ud800', 1), true);
  });
});
