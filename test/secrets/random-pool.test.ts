import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RandomPool } from '../../src/secrets/random-pool.ts';

describe('RandomPool', () => {
  it('never returns the same bytes twice', () => {
    const pool = new RandomPool();
    const seen = new Set<string>();
    const target = Buffer.alloc(10);
    for (let i = 0; i < 5_000; i++) {
      pool.fill(target, 0, 10);
      seen.add(target.toString('hex'));
    }
    assert.equal(seen.size, 5_000);
  });

  it('writes only the requested range', () => {
    const target = Buffer.alloc(64);
    new RandomPool().fill(target, 16, 32);
    assert.deepEqual(target.subarray(0, 16), Buffer.alloc(16));
    assert.deepEqual(target.subarray(48), Buffer.alloc(16));
    assert.notDeepEqual(target.subarray(16, 48), Buffer.alloc(32));
  });

  it('returns all byte values', () => {
    const target = Buffer.alloc(8_192);
    new RandomPool().fill(target, 0, target.length);
    assert.equal(new Set(target).size, 256);
  });
});
