import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { UnitHasher } from '../../src/ids/unit-hasher.ts';

const keys = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const accounts = [0, 1, 256, 0xffff_ffff];
const unitIds = ['~'.repeat(64), '!', '!!', 'u1', '1', 'a'.repeat(63)];

test('hashes key, account and unit_id with SHA-256, truncated to 16 bytes', () => {
  const seen = new Set<string>();
  for (const key of keys) {
    const hasher = new UnitHasher(key);
    for (const account of accounts) {
      const accountBytes = Buffer.alloc(4);
      accountBytes.writeUInt32BE(account);
      // A long unit_id precedes a short one, so that a rest of the long one would change the hash.
      for (const unitId of [...unitIds, ...unitIds]) {
        const expected = createHash('sha256').update(key).update(accountBytes).update(unitId).digest().subarray(0, 16);
        assert.deepEqual(hasher.hash(account, unitId), expected);
        seen.add(expected.toString('hex'));
      }
    }
  }
  assert.equal(seen.size, keys.length * accounts.length * unitIds.length);
});

test('a hash keeps its value when the next unit_id is hashed', () => {
  const hasher = new UnitHasher(keys[0]!);
  const first = hasher.hash(1, 'first');
  const copy = Buffer.from(first);
  hasher.hash(1, 'second');
  assert.deepEqual(first, copy);
});

test('rejects a key of another length', () => {
  for (const length of [0, 31, 33]) assert.throws(() => new UnitHasher(Buffer.alloc(length)), RangeError);
});
