import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import { type Click, ClickIds } from '../../src/clicks/click-id.ts';
import { ringOf } from '../support/secrets.ts';

const ours = new ClickIds(ringOf('ours'));
const base64url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const click = fc.record<Click>({
  sub: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  offerId: fc.string({
    unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz0123456789_-'),
    minLength: 1,
    maxLength: 64,
  }),
  clickedMs: fc.integer({ min: 0, max: 2 ** 48 - 1 }),
  valueMicros: fc.integer({ min: 0, max: bounds.clickValueMicrosMax }),
});
const some: Click = { sub: Buffer.alloc(32, 7), offerId: 'lender-offer', clickedMs: 1_779_278_400_000, valueMicros: 5 };

function readBack(ids: ClickIds, text: string): Click | null {
  const read = ids.read(text);
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
    const first = ours.read(ours.issue(some))!;
    ours.read(ours.issue({ ...some, sub: Buffer.alloc(32, 9), offerId: 'another' }));
    assert.deepEqual(Uint8Array.from(first.sub), Uint8Array.from(some.sub));
    assert.equal(first.offerId, some.offerId);
  });

  it('reads no id with any one character changed', () => {
    const id = ours.issue(some);
    for (let at = 0; at < id.length; at++) {
      for (const character of `${base64url}+/=. %`) {
        if (character === id[at]) continue;
        assert.equal(ours.read(id.slice(0, at) + character + id.slice(at + 1)), null);
      }
    }
  });

  it('has one spelling, whatever the length of the offer id', () => {
    for (let length = 1; length <= 12; length++) {
      const id = ours.issue({ ...some, offerId: 'x'.repeat(length) });
      for (const character of base64url) {
        const respelt = id.slice(0, -1) + character;
        if (respelt !== id) assert.equal(ours.read(respelt), null);
      }
      for (const respelt of [`${id}=`, `${id}==`, `${id}\n`, ` ${id}`, `${id}!`, `${id}A`]) {
        assert.equal(ours.read(respelt), null);
      }
      const padded = Buffer.from(id, 'base64url').toString('base64');
      if (padded !== id) assert.equal(ours.read(padded), null);
    }
  });

  it('reads no id that is shortened', () => {
    const id = ours.issue(some);
    for (let length = 0; length < id.length; length++) assert.equal(ours.read(id.slice(0, length)), null);
  });

  it('reads no id of another secret, but does of one that is still listed', () => {
    const before = new ClickIds(ringOf('first'));
    const rotated = new ClickIds(ringOf('first', 'second'));
    assert.equal(rotated.read(before.issue(some))?.offerId, some.offerId);
    assert.equal(before.read(rotated.issue(some)), null);
    assert.equal(ours.read(before.issue(some)), null);
  });

  it('reads no text it did not issue, and throws at none', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.base64String({ maxLength: 400 })), (text) => {
        assert.equal(ours.read(text), null);
      }),
    );
  });
});
