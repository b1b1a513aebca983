import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import fc from 'fast-check';
import { exceedsCodePointLimit, nearestWord } from '../../src/domain/text.ts';

describe('exceedsCodePointLimit', () => {
  it('exceedsCodePointLimit counts code points, not UTF-16 units', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.nat(20), (text, max) => {
        assert.equal(exceedsCodePointLimit(text, max), [...text].length > max);
      }),
    );
  });

  it('exceedsCodePointLimit counts a lone surrogate as one code point', () => {
    assert.equal(exceedsCodePointLimit('\ud800\ud800', 2), false);
    assert.equal(exceedsCodePointLimit('\ud800\ud800', 1), true);
  });
});

const modes = ['live', 'test'];
const settings = ['PORT', 'OPS_PORT', 'DATA_DIR', 'HOST'];

test('nearestWord finds a word despite a missing, extra, changed or swapped letter', () => {
  for (const typed of ['liv', 'livee', 'lave', 'ilve', 'LIVE']) assert.equal(nearestWord(typed, modes), 'live', typed);
  for (const typed of ['DATADIR', 'DATA_DRI', 'DTA_DR']) assert.equal(nearestWord(typed, settings), 'DATA_DIR', typed);
});

test('nearestWord returns the nearest word, or null if none is similar', () => {
  for (const typed of ['', 'prod', 'lvee_', 'l'.repeat(1_000_000)]) assert.equal(nearestWord(typed, modes), null);
  assert.equal(nearestWord('PROT', settings), 'PORT');
  assert.equal(nearestWord('OPS_PROT', settings), 'OPS_PORT');
});
