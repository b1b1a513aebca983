import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import { type ClickIdPayload, ClickIds } from '../../src/ids/click-id.ts';
import { RandomPool } from '../../src/secrets/random-pool.ts';
import { ringOf } from '../support/secrets.ts';

const random = new RandomPool();
const ours = new ClickIds(ringOf('ours'), random);
const base64url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const click = fc.record<ClickIdPayload>({
  sub: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  offerId: fc.string({
    unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz0123456789_-'),
    minLength: 1,
    maxLength: 64,
  }),
  clickedMs: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
  valueMicros: fc.integer({ min: 0, max: bounds.clickValueMicrosMax }),
  countable: fc.boolean(),
});
const some: ClickIdPayload = {
  sub: Buffer.alloc(32, 7),
  offerId: 'lender-offer',
  clickedMs: 1_779_278_400_000,
  valueMicros: 5,
  countable: true,
};
/** The click_id of this click as it was issued before click_ids were encrypted. */
const signedId = 'AQcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHAZ5FQcoAAAAAAAAFbGVuZGVyLW9mZmVy2FOoH8vPqu9nXQ';

function readBack(ids: ClickIds, text: string): ClickIdPayload | null {
  const read = ids.verify(text);
  return read && { ...read, sub: Uint8Array.from(read.sub) };
}

describe('ClickIds', () => {
  it('reads what it issued', () => {
    fc.assert(
      fc.property(click, (each) => {
        const id = ours.issue(each);
        assert.match(id, /^[A-Za-z0-9_-]+$/);
        assert.deepEqual(readBack(ours, id), { ...each, sub: Uint8Array.from(each.sub) });
      }),
    );
  });

  it('reads a click that stays as it is when the next one is issued or read', () => {
    const first = ours.verify(ours.issue(some))!;
    ours.verify(ours.issue({ ...some, sub: Buffer.alloc(32, 9), offerId: 'another' }));
    assert.deepEqual(Uint8Array.from(first.sub), Uint8Array.from(some.sub));
    assert.equal(first.offerId, some.offerId);
  });

  it('reads the ids issued before they were encrypted', () => {
    assert.deepEqual(readBack(ours, signedId), { ...some, sub: Uint8Array.from(some.sub) });
    assert.equal(new ClickIds(ringOf('theirs'), random).verify(signedId), null);
  });

  it('shows nothing of the click, not even that it is the same', () => {
    const click = { ...some, sub: Buffer.from('0123456789abcdef'.repeat(4), 'hex'), valueMicros: 0x123456789a };
    const ids = Array.from({ length: 200 }, () => ours.issue(click));
    const bytes = ids.map((id) => Buffer.from(id, 'base64url'));
    const plain = [click.sub, Buffer.from(click.offerId), Buffer.from('123456789a', 'hex'), Buffer.alloc(6)];
    plain[3]!.writeUIntBE(click.clickedMs, 0, 6);
    for (const each of bytes) {
      assert.deepEqual(each.subarray(0, 2), bytes[0]!.subarray(0, 2));
      for (const part of plain) {
        for (let at = 0; at + 4 <= part.length; at++) assert(!each.includes(part.subarray(at, at + 4)));
      }
    }
    // Behind layout and secret number, no byte stays the same in all of them.
    for (let at = 2; at < bytes[0]!.length; at++) assert(new Set(bytes.map((each) => each[at])).size > 50);
  });

  it('has a length that tells nothing but the length of the offer id', () => {
    fc.assert(
      fc.property(click, (each) => {
        const other = { ...some, offerId: 'x'.repeat(each.offerId.length) };
        assert.equal(ours.issue(each).length, ours.issue(other).length);
      }),
    );
  });

  for (const [layout, id] of [
    ['an id', ours.issue(some)],
    ['an id issued before ids were encrypted', signedId],
  ] as const) {
    it(`reads no id with any one bit of ${layout} flipped`, () => {
      const bytes = Buffer.from(id, 'base64url');
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        const flipped = Buffer.from(bytes);
        flipped[bit >> 3]! ^= 1 << (bit & 7);
        assert.equal(ours.verify(flipped.toString('base64url')), null);
      }
    });
  }

  it('reads no id whose layout is changed to that of the other kind', () => {
    const encrypted = Buffer.from(ours.issue(some), 'base64url');
    const signed = Buffer.from(signedId, 'base64url');
    for (const changed of [encrypted.subarray(1), Buffer.concat([Buffer.alloc(1), signed])]) {
      assert.equal(ours.verify(changed.toString('base64url')), null);
    }
  });

  it('reads no id with any one character changed', () => {
    const id = ours.issue(some);
    for (let at = 0; at < id.length; at++) {
      for (const character of `${base64url}+/=. %`) {
        if (character === id[at]) continue;
        assert.equal(ours.verify(id.slice(0, at) + character + id.slice(at + 1)), null);
      }
    }
  });

  it('has one spelling, whatever the length of the offer id', () => {
    for (let length = 1; length <= 12; length++) {
      const id = ours.issue({ ...some, offerId: 'x'.repeat(length) });
      for (const character of base64url) {
        const respelt = id.slice(0, -1) + character;
        if (respelt !== id) assert.equal(ours.verify(respelt), null);
      }
      for (const respelt of [`${id}=`, `${id}==`, `${id}\n`, ` ${id}`, `${id}!`, `${id}A`]) {
        assert.equal(ours.verify(respelt), null);
      }
      const padded = Buffer.from(id, 'base64url').toString('base64');
      if (padded !== id) assert.equal(ours.verify(padded), null);
    }
  });

  it('reads no id that is shortened', () => {
    const id = ours.issue(some);
    for (let length = 0; length < id.length; length++) assert.equal(ours.verify(id.slice(0, length)), null);
  });

  it('reads no id of another secret, but does of one that is still listed', () => {
    const before = new ClickIds(ringOf('first'), random);
    const rotated = new ClickIds(ringOf('first', 'second'), random);
    assert.equal(rotated.verify(before.issue(some))?.offerId, some.offerId);
    assert.equal(before.verify(rotated.issue(some)), null);
    assert.equal(ours.verify(before.issue(some)), null);
  });

  it('reads no text it did not issue, and throws at none', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.base64String({ maxLength: 400 })), (text) => {
        assert.equal(ours.verify(text), null);
      }),
    );
  });
});
