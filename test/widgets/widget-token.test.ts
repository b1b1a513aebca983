import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { WidgetTokens } from '../../src/ids/widget-token.ts';
import { ringOf } from '../support/secrets.ts';

const ours = new WidgetTokens(ringOf('ours'));
const sub = fc.uint8Array({ minLength: 32, maxLength: 32 });
const expiry = fc.integer({ min: 0, max: 2 ** 48 - 1 });
const someSub = Buffer.alloc(32, 7);
const someToken = ours.issue(someSub, 1_779_278_400_000);

describe('WidgetTokens', () => {
  it('tells when a token ends that it issued for the session', () => {
    fc.assert(
      fc.property(sub, expiry, (each, expiresMs) => {
        const token = ours.issue(each, expiresMs);
        assert.match(token, /^[\w-]{28}$/);
        assert.equal(ours.verify(each, token), expiresMs);
      }),
    );
  });

  it('opens no other session', () => {
    fc.assert(
      fc.property(sub, fc.nat({ max: 31 }), fc.integer({ min: 1, max: 255 }), (each, at, change) => {
        const other = Uint8Array.from(each);
        other[at]! ^= change;
        assert.equal(ours.verify(other, ours.issue(each, 1)), null);
      }),
    );
  });

  it('takes no token with any one character changed, added or left out', () => {
    for (let at = 0; at < someToken.length; at++) {
      for (const character of 'ABCxyz019-_+/=. %') {
        if (character === someToken[at]) continue;
        assert.equal(ours.verify(someSub, someToken.slice(0, at) + character + someToken.slice(at + 1)), null);
      }
    }
    for (const text of ['', someToken.slice(1), `${someToken}A`, `${someToken}=`, ` ${someToken}`]) {
      assert.equal(ours.verify(someSub, text), null);
    }
  });

  it('takes no token of another secret, nor any other text', () => {
    assert.equal(new WidgetTokens(ringOf('theirs')).verify(someSub, someToken), null);
    fc.assert(fc.property(fc.string({ minLength: 28, maxLength: 28 }), (text) => ours.verify(someSub, text) === null));
  });
});
