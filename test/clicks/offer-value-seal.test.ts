import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ClickTokenCipher } from '../../src/ids/click-token-cipher.ts';
import { RandomPool } from '../../src/secrets/random-pool.ts';
import { ringOf } from '../support/secrets.ts';

const random = new RandomPool();
const ours = new ClickTokenCipher(ringOf('ours'), random);
const basis = { catalogVersion: '0123456789ab', creditBand: 4 };
const sub = Buffer.alloc(32, 1);
const base64url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

describe('OfferValueSeal', () => {
  it('opens what it sealed for a session', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.integer({ min: 0, max: 255 }),
        fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 1, maxLength: 31 }),
        (bytes, creditBand, catalogVersion) => {
          const sealed = ours.encrypt(bytes, { creditBand, catalogVersion });
          assert.match(sealed, /^[A-Za-z0-9_-]+$/);
          assert.deepEqual(ours.decrypt(bytes, sealed), { creditBand, catalogVersion });
        },
      ),
    );
  });

  it('opens what earlier versions sealed', () => {
    assert.deepEqual(ours.decrypt(sub, 'AdY3FHK6Nj2F9TXjRtEoT9YRsVVtIc6eHDehVO_gACaImUK_CL2pC7c6'), basis);
  });

  it('shows nothing of what is inside, not even that it is the same', () => {
    const [one, other] = [ours.encrypt(sub, basis), ours.encrypt(sub, basis)];
    assert.notEqual(one, other);
    for (const sealed of [one, other]) {
      assert(!Buffer.from(sealed, 'base64url').toString('latin1').includes(basis.catalogVersion));
    }
  });

  it('refuses to seal a version longer than any', () => {
    assert.throws(() => ours.encrypt(sub, { ...basis, catalogVersion: 'f'.repeat(32) }), RangeError);
  });

  it('opens for its own session only', () => {
    const sealed = ours.encrypt(sub, basis);
    for (let at = 0; at < 32; at++) {
      const another = Buffer.from(sub);
      another[at]! ^= 1;
      assert.equal(ours.decrypt(another, sealed), null);
    }
  });

  it('does not open with any one character changed', () => {
    const sealed = ours.encrypt(sub, basis);
    for (let at = 0; at < sealed.length; at++) {
      for (const character of `${base64url}+/=. %`) {
        if (character === sealed[at]) continue;
        assert.equal(ours.decrypt(sub, sealed.slice(0, at) + character + sealed.slice(at + 1)), null);
      }
    }
  });

  it('has one spelling, whatever the length of the version', () => {
    for (let length = 1; length <= 12; length++) {
      const sealed = ours.encrypt(sub, { ...basis, catalogVersion: 'f'.repeat(length) });
      for (const character of base64url) {
        const respelt = sealed.slice(0, -1) + character;
        if (respelt !== sealed) assert.equal(ours.decrypt(sub, respelt), null);
      }
      for (const respelt of [`${sealed}=`, `${sealed}==`, `${sealed}\n`, ` ${sealed}`, `${sealed}!`, `${sealed}A`]) {
        assert.equal(ours.decrypt(sub, respelt), null);
      }
      const padded = Buffer.from(sealed, 'base64url').toString('base64');
      if (padded !== sealed) assert.equal(ours.decrypt(sub, padded), null);
    }
  });

  it('does not open when shortened', () => {
    const sealed = ours.encrypt(sub, basis);
    for (let length = 0; length < sealed.length; length++)
      assert.equal(ours.decrypt(sub, sealed.slice(0, length)), null);
  });

  it('does not open under another secret, but does under one that is still listed', () => {
    const before = new ClickTokenCipher(ringOf('first'), random);
    const rotated = new ClickTokenCipher(ringOf('first', 'second'), random);
    assert.deepEqual(rotated.decrypt(sub, before.encrypt(sub, basis)), basis);
    assert.equal(before.decrypt(sub, rotated.encrypt(sub, basis)), null);
    assert.equal(ours.decrypt(sub, before.encrypt(sub, basis)), null);
  });

  it('opens no text it did not seal, and throws at none', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.base64String({ maxLength: 200 })), (text) => {
        assert.equal(ours.decrypt(sub, text), null);
      }),
    );
  });
});
