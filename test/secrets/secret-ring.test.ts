import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SecretRing } from '../../src/secrets/secret-ring.ts';

const bytes = (fill: number) => Buffer.alloc(32, fill);

describe('SecretRing', () => {
  it('uses the highest number as the newest', () => {
    const ring = new SecretRing([
      { number: 2, bytes: bytes(2) },
      { number: 9, bytes: bytes(9) },
      { number: 1, bytes: bytes(1) },
    ]);
    assert.equal(ring.newest.number, 9);
    assert.deepEqual([...ring.secretNumbers].sort(), [1, 2, 9]);
  });

  it('derives a different, stable key for each secret and purpose', () => {
    const secrets = [
      { number: 1, bytes: bytes(1) },
      { number: 2, bytes: bytes(2) },
    ];
    const keys = new Set<string>();
    for (const number of [1, 2]) {
      for (const purpose of ['sub-id', 'click-id', 'offer-value', 'cursor'] as const) {
        const key = new SecretRing(secrets).deriveKey(number, purpose)!;
        assert.equal(key.length, 32);
        assert.deepEqual(key, new SecretRing(secrets).deriveKey(number, purpose));
        keys.add(key.toString('hex'));
      }
    }
    assert.equal(keys.size, 8);
    for (const secret of secrets) assert(!keys.has(secret.bytes.toString('hex')));
  });

  it('returns null for an unknown number', () => {
    assert.equal(new SecretRing([{ number: 1, bytes: bytes(1) }]).deriveKey(2, 'sub-id'), null);
  });

  it('throws without secrets', () => {
    assert.throws(() => new SecretRing([]));
  });
});
