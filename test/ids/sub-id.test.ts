import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ApiKeyMode } from '../../src/domain/mode.ts';
import {
  decodeSubId,
  formatSubId,
  int32sPerSubId,
  parseSubIdHex,
  SubIds,
  subIdCreatedMs,
} from '../../src/ids/sub-id.ts';
import { RandomBytesPool } from '../../src/secrets/random-pool.ts';
import { secretSetOf, subIdAt } from '../support/identities.ts';

const createdMs = Date.UTC(2026, 4, 20, 12);
const subIds = new SubIds(secretSetOf('ours'), new RandomBytesPool());
const issue = () => subIds.createSubId(createdMs, 42, 1, 'live');

describe('SubIds', () => {
  it('a sub_id contains creation time, account, vertical and mode', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2 ** 48 - 1 }),
        fc.integer({ min: 0, max: 2 ** 32 - 1 }),
        fc.integer({ min: 1, max: 127 }),
        fc.constantFrom<ApiKeyMode>('live', 'test'),
        (time, account, vertical, mode) => {
          const subId = subIds.createSubId(time, account, vertical, mode);
          assert.match(subId, /^sub_[0-9a-f]{64}$/);
          assert.deepEqual(decodeSubId(subIds.verify(subId)!), { createdMs: time, account, vertical, mode });
        },
      ),
    );
  });

  it('a sub_id contains 80 random bits', () => {
    const ids = Array.from({ length: 10_000 }, () => Uint8Array.from(subIds.toBytes(issue())));
    assert.equal(new Set(ids.map((sub) => formatSubId(sub))).size, ids.length);
    for (let byte = 14; byte < 24; byte++) assert(new Set(ids.map((sub) => sub[byte])).size > 200);
  });

  it('sub_ids sort by creation time', () => {
    const earlier = subIds.createSubId(createdMs - 1, 2 ** 32 - 1, 127, 'test');
    assert(earlier < subIds.createSubId(createdMs, 0, 1, 'live'));
  });

  it('formatSubId and decodeSubId accept bytes that are part of a larger buffer', () => {
    const subId = issue();
    const larger = Buffer.concat([Buffer.alloc(7, 0xff), subIds.toBytes(subId), Buffer.alloc(7, 0xff)]);
    const sub = new Uint8Array(larger.buffer, larger.byteOffset + 7, 32);
    assert.deepEqual(subIds.verify(subId), Buffer.from(sub));
    assert.equal(formatSubId(sub), subId);
    assert.equal(decodeSubId(sub).account, 42);
  });
});

function parseWords(text: string): number[] | null {
  const words = new Int32Array(int32sPerSubId);
  return parseSubIdHex(text, words) ? [...words] : null;
}

describe('parseSubIdHex', () => {
  const validId = 'sub_00112233445566778899aabbccddeeffffeeddccbbaa99887766554433221100';

  it('parseSubIdHex returns the same 32-bit integers as Buffer.readInt32BE', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (sub) => {
        const bytes = Buffer.from(sub);
        const words = Array.from({ length: 8 }, (_, word) => bytes.readInt32BE(4 * word));
        assert.deepEqual(parseWords(`sub_${bytes.toString('hex')}`), words);
      }),
      { examples: [[new Uint8Array(32)], [new Uint8Array(32).fill(0xff)], [new Uint8Array(32).fill(0x80)]] },
    );
  });

  it('rejects sub_ids with a character that is not a lower-case hexadecimal digit', () => {
    const others = [...'/:@`gABCDEF \0\x7f-', '\u0080', '\u0130', '\uff10', '\uff41', '\u0661', '\ud83d', '\uffff'];
    // Characters whose low byte, or low seven bits, are those of a digit.
    for (const digit of '09af')
      others.push(...[128, 256, 0x3000].map((added) => String.fromCharCode(digit.charCodeAt(0) + added)));
    for (let i = 4; i < validId.length; i++) {
      for (const other of others) {
        const text = validId.slice(0, i) + other + validId.slice(i + 1);
        assert.equal(parseWords(text), null, JSON.stringify(text));
      }
    }
  });

  it('the first two 32-bit words of a sub_id contain the creation time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (ms) => {
        const [first, second] = parseWords(subIdAt(ms))!;
        assert.equal(subIdCreatedMs(first!, second!), ms);
      }),
      { examples: [[0], [2 ** 48 - 1], [2 ** 47], [2 ** 31 * 2 ** 16 - 1], [0xffff], [0x8000]] },
    );
  });
});
