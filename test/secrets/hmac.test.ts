import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Hmac } from '../../src/secrets/hmac.ts';
import { RandomBytesPool } from '../../src/secrets/random-pool.ts';

const key = fc.uint8Array({ minLength: 1, maxLength: 64 });
const message = fc.uint8Array({ maxLength: 200 });

describe('Hmac', () => {
  it('computes the correct HMAC-SHA-256 of several messages in sequence', () => {
    fc.assert(
      fc.property(key, fc.array(message, { minLength: 1, maxLength: 4 }), (keyBytes, messages) => {
        const hmac = new Hmac(keyBytes, 200);
        for (const bytes of messages) {
          const mac = Buffer.alloc(32);
          hmac.sign(Buffer.from(bytes), bytes.length, mac, 0, 32);
          assert.deepEqual(mac, createHmac('sha256', keyBytes).update(bytes).digest());
        }
      }),
    );
  });

  it('sign writes only the truncated MAC and no other bytes', () => {
    const bytes = Buffer.alloc(40, 7);
    new Hmac(Buffer.from('key'), 24).sign(bytes, 24, bytes, 24, 8);
    const expected = createHmac('sha256', 'key').update(Buffer.alloc(24, 7)).digest();
    assert.deepEqual(bytes.subarray(0, 24), Buffer.alloc(24, 7));
    assert.deepEqual(bytes.subarray(24, 32), expected.subarray(0, 8));
    assert.deepEqual(bytes.subarray(32), Buffer.alloc(8, 7));
  });

  it('rejects a message or MAC with one changed bit', () => {
    fc.assert(
      fc.property(key, fc.uint8Array({ minLength: 1, maxLength: 64 }), fc.nat(), (keyBytes, bytes, at) => {
        const hmac = new Hmac(keyBytes, 64);
        const signed = Buffer.alloc(bytes.length + 10);
        signed.set(bytes);
        hmac.sign(signed, bytes.length, signed, bytes.length, 10);
        assert(hmac.verify(signed, bytes.length, signed, bytes.length, 10));
        const bit = at % (signed.length * 8);
        signed[bit >> 3]! ^= 1 << (bit & 7);
        assert(!hmac.verify(signed, bytes.length, signed, bytes.length, 10));
      }),
    );
  });

  it('throws for a message longer than the maximum, an empty key, or a key longer than a hash block', () => {
    const hmac = new Hmac(Buffer.from('key'), 8);
    const mac = Buffer.alloc(32);
    hmac.sign(Buffer.alloc(8), 8, mac, 0, 32);
    assert.throws(() => hmac.sign(Buffer.alloc(9), 9, mac, 0, 32), RangeError);
    for (const bytes of [0, 65]) assert.throws(() => new Hmac(Buffer.alloc(bytes), 8), RangeError);
  });
});

describe('RandomBytesPool', () => {
  it('writeRandomBytes writes different bytes at each call, and every value from 0 to 255 occurs', () => {
    const pool = new RandomBytesPool();
    const [texts, values] = [new Set<string>(), new Set<number>()];
    const target = Buffer.alloc(10);
    for (let i = 0; i < 5_000; i++) {
      pool.writeRandomBytes(target, 0, 10);
      texts.add(target.toString('hex'));
      for (const value of target) values.add(value);
    }
    assert.deepEqual([texts.size, values.size], [5_000, 256]);
    // More bytes than the pool holds.
    const large = Buffer.alloc(8_192);
    pool.writeRandomBytes(large, 0, large.length);
    assert.equal(new Set(large).size, 256);
  });

  it('writeRandomBytes changes only the requested range of the target', () => {
    const target = Buffer.alloc(64);
    new RandomBytesPool().writeRandomBytes(target, 16, 32);
    assert.deepEqual(target.subarray(0, 16), Buffer.alloc(16));
    assert.deepEqual(target.subarray(48), Buffer.alloc(16));
    assert.notDeepEqual(target.subarray(16, 48), Buffer.alloc(32));
  });
});
