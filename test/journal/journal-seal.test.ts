import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { JournalCipher } from '../../src/journal/journal-format.ts';

const secret = randomBytes(32);
const salt = randomBytes(16);

test('decrypts an encrypted journal batch', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.nat(1e9), (plain, number) => {
      const sealed = new JournalCipher(secret, salt).encrypt(number, plain);
      assert.deepEqual(new JournalCipher(secret, salt).decrypt(number, sealed), Buffer.from(plain));
    }),
  );
});

test('decryption of a batch fails with a wrong number, salt or secret, or a changed or missing byte', () => {
  const seal = new JournalCipher(secret, salt);
  const sealed = seal.encrypt(7, Buffer.from('what a borrower told'));
  assert.notEqual(seal.decrypt(7, sealed), null);
  assert.equal(seal.decrypt(8, sealed), null);
  assert.equal(new JournalCipher(secret, randomBytes(16)).decrypt(7, sealed), null);
  assert.equal(new JournalCipher(randomBytes(32), salt).decrypt(7, sealed), null);
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed[at]! ^= 1;
    assert.equal(seal.decrypt(7, changed), null);
    assert.equal(seal.decrypt(7, sealed.subarray(0, at)), null);
  }
});
