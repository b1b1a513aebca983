import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parseSubIdWords, subIdCreatedMs, subIdWordCount } from '../../src/ids/sub-id.ts';
import { subIdAt } from '../support/sub-id-at.ts';

/** The words of a text, or null for what is no id. */
function wordsOf(text: string): number[] | null {
  const words = new Int32Array(subIdWordCount);
  return parseSubIdWords(text, words) ? [...words] : null;
}

const anId = 'sub_00112233445566778899aabbccddeeffffeeddccbbaa99887766554433221100';

describe('readSubIdWords', () => {
  it('reads the words that Buffer reads', () => {
    const ids = fc.uint8Array({ minLength: 32, maxLength: 32 });
    fc.assert(
      fc.property(ids, (id) => {
        const bytes = Buffer.from(id);
        assert.deepEqual(
          wordsOf(`sub_${bytes.toString('hex')}`),
          Array.from({ length: 8 }, (_, word) => bytes.readInt32BE(4 * word)),
        );
      }),
      { examples: [[new Uint8Array(32)], [new Uint8Array(32).fill(0xff)], [new Uint8Array(32).fill(0x80)]] },
    );
  });

  it('takes no other length, and no other beginning', () => {
    assert(wordsOf(anId) !== null);
    for (const text of [
      ...['', 'sub_', anId.slice(0, -1), `${anId}0`, `${anId} `, ` ${anId}`, anId.slice(4)],
      ...[`sub-${anId.slice(4)}`, `Sub_${anId.slice(4)}`, `0000${anId.slice(4)}`],
    ]) {
      assert.equal(wordsOf(text), null, text);
    }
  });

  it('takes nothing but lower-case hex digits, wherever another character stands', () => {
    const others = [...'/:@`gABCDEF \0\x7f-', '\u0080', '\u0130', '\uff10', '\uff41', '\u0661', '\ud83d', '\uffff'];
    // What has the low byte, or the low seven bits, of a digit is still none.
    for (const digit of '09af')
      others.push(...[128, 256, 0x3000].map((added) => String.fromCharCode(digit.charCodeAt(0) + added)));
    for (let at = 4; at < anId.length; at++) {
      for (const other of others) {
        const text = anId.slice(0, at) + other + anId.slice(at + 1);
        assert.equal(wordsOf(text), null, JSON.stringify(text));
      }
    }
  });

  it('says no of any text that is not the spelling of 32 bytes', () => {
    const tail = fc.string({ unit: fc.constantFrom(...'0123456789abcdefgAF\u0130'), minLength: 62, maxLength: 66 });
    fc.assert(
      fc.property(tail, (text) => {
        assert.equal(wordsOf(`sub_${text}`) !== null, /^[0-9a-f]{64}$/.test(text));
      }),
    );
  });
});

describe('createdMsOf', () => {
  it('is the time the id was issued for, any of six bytes', () => {
    const times = fc.integer({ min: 0, max: 2 ** 48 - 1 });
    fc.assert(
      fc.property(times, (ms) => {
        const [first, second] = wordsOf(subIdAt(ms))!;
        assert.equal(subIdCreatedMs(first!, second!), ms);
      }),
      { examples: [[0], [2 ** 48 - 1], [2 ** 47], [2 ** 31 * 2 ** 16 - 1], [0xffff], [0x8000]] },
    );
  });
});
