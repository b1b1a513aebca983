import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Mode } from '../../src/domain/mode.ts';
import { decodeSubId, formatSubId, isOwnedBy, SubIds, subIdCharacters } from '../../src/ids/sub-id.ts';
import { RandomPool } from '../../src/secrets/random-pool.ts';
import type { SecretRing } from '../../src/secrets/secret-ring.ts';
import { equipmentLeases } from '../support/equipment-leases.ts';
import { ringOf } from '../support/secrets.ts';
import { liveTenant } from '../support/tenants.ts';

const createdMs = Date.UTC(2026, 4, 20, 12);
const random = new RandomPool();
const ours = subIdsOf(ringOf('ours'));

function subIdsOf(ring: SecretRing, shard = 3): SubIds {
  return new SubIds(ring, shard, random);
}

function issue(subIds = ours): string {
  return subIds.issue(createdMs, 42, 1, 'live');
}

/** Everything a caller could put in place of one character: the other hex digits, capitals, and whatever else. */
const replacement = fc.oneof(
  fc.constantFrom(...'0123456789abcdef'),
  fc.constantFrom(...'ABCDEFgxyzGXYZ/:@`_-+ %\0\n'),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
);

describe('an issued sub_id', () => {
  it('is sub_ and 64 lower-case hex digits', () => {
    assert.match(issue(), /^sub_[0-9a-f]{64}$/);
    assert.equal(issue().length, subIdCharacters);
  });

  it('verifies, and holds what it was issued for', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2 ** 48 - 1 }),
        fc.integer({ min: 0, max: 2 ** 32 - 1 }),
        fc.integer({ min: 1, max: 127 }),
        fc.constantFrom<Mode>('live', 'test'),
        fc.integer({ min: 0, max: 2 ** 16 - 1 }),
        (time, account, vertical, mode, shard) => {
          const subIds = subIdsOf(ringOf('older', 'newer'), shard);
          const bytes = subIds.verify(subIds.issue(time, account, vertical, mode));
          assert(bytes !== null);
          assert.deepEqual(decodeSubId(bytes), { createdMs: time, shard, account, vertical, mode, secretNumber: 2 });
        },
      ),
    );
  });

  it('has 80 random bits, and a MAC of 64 bits over everything ahead of it', () => {
    const ring = ringOf('ours');
    const ids = Array.from({ length: 200 }, () => Buffer.from(ours.toBytes(issue())));
    for (const bytes of ids) {
      const mac = createHmac('sha256', ring.deriveKey(1, 'sub-id')!).update(bytes.subarray(0, 24)).digest();
      assert.deepEqual(bytes.subarray(24), mac.subarray(0, 8));
    }
    // Of 200 random bytes at one place more than 64 differ, whatever the luck.
    for (let at = 14; at < 24; at++) assert(new Set(ids.map((bytes) => bytes[at])).size > 64);
  });

  it('is another one each time, even in the same millisecond', () => {
    const ids = new Set(Array.from({ length: 10_000 }, () => issue()));
    assert.equal(ids.size, 10_000);
  });

  it('sorts after those issued in an earlier millisecond', () => {
    const earlier = ours.issue(createdMs - 1, 2 ** 32 - 1, 127, 'test');
    assert(earlier < ours.issue(createdMs, 0, 1, 'live'));
  });

  it('has the same bytes wherever they are asked for', () => {
    const id = issue();
    const issued = Buffer.from(ours.lastIssuedBytes);
    assert.deepEqual(ours.verify(id), issued);
    assert.deepEqual(ours.toBytes(id), issued);
    assert.equal(formatSubId(issued), id);
  });

  it('is read from bytes that lie within a larger buffer', () => {
    const id = issue();
    const around = Buffer.concat([Buffer.alloc(7, 0xff), ours.toBytes(id), Buffer.alloc(7, 0xff)]);
    const within = new Uint8Array(around.buffer, around.byteOffset + 7, 32);
    assert.equal(formatSubId(within), id);
    assert.equal(decodeSubId(within).account, 42);
  });
});

it('belongs to the tenant of its account, vertical and mode, and to no other', () => {
  const parts = decodeSubId(
    ours.verify(ours.issue(createdMs, liveTenant.account, liveTenant.vertical.number, 'live'))!,
  );
  assert(isOwnedBy(parts, liveTenant));
  assert(!isOwnedBy(parts, { ...liveTenant, account: liveTenant.account + 1 }));
  assert(!isOwnedBy(parts, { ...liveTenant, mode: 'test' }));
  assert(!isOwnedBy(parts, { ...liveTenant, vertical: equipmentLeases }));
});

describe('a forged sub_id', () => {
  it('does not verify with any one hex digit changed to any other', () => {
    const id = issue();
    for (let at = 4; at < id.length; at++) {
      for (const digit of '0123456789abcdef') {
        if (digit === id[at]) continue;
        assert.equal(ours.verify(id.slice(0, at) + digit + id.slice(at + 1)), null, `position ${at}`);
      }
    }
  });

  it('does not verify with any one character changed', () => {
    fc.assert(
      fc.property(fc.nat(subIdCharacters - 1), replacement, (at, character) => {
        const id = issue();
        fc.pre(character !== id[at]);
        assert.equal(ours.verify(id.slice(0, at) + character + id.slice(at + 1)), null);
      }),
      { numRuns: 2_000 },
    );
  });

  it('does not verify with its last character changed', () => {
    fc.assert(
      fc.property(replacement, (character) => {
        const id = issue();
        fc.pre(character !== id.at(-1));
        assert.equal(ours.verify(id.slice(0, -1) + character), null);
      }),
      { numRuns: 1_000 },
    );
  });

  it('does not verify in another spelling of the same bytes', () => {
    const id = issue();
    assert.equal(ours.verify(id.toUpperCase()), null);
    assert.equal(ours.verify(`sub_${id.slice(4).toUpperCase()}`), null);
    assert.equal(ours.verify(`SUB_${id.slice(4)}`), null);
    for (let at = 4; at < id.length; at++) {
      const capital = id[at]!.toUpperCase();
      if (capital !== id[at]) assert.equal(ours.verify(id.slice(0, at) + capital + id.slice(at + 1)), null);
    }
  });

  it('does not verify when shortened at either end, or lengthened', () => {
    const id = issue();
    for (let length = 0; length < id.length; length++) {
      assert.equal(ours.verify(id.slice(0, length)), null);
      assert.equal(ours.verify(id.slice(id.length - length)), null);
    }
    for (const more of ['0', 'f', ' ', '\n', '\0', '00', '=']) {
      assert.equal(ours.verify(id + more), null);
      assert.equal(ours.verify(more + id), null);
    }
  });

  it('does not verify under another prefix', () => {
    const digits = issue().slice(4);
    for (const prefix of ['', 'sub', 'sub-', 'sub:', 'bus_', '_sub', 'sub_0', '0000', 'suB_']) {
      assert.equal(ours.verify(prefix + digits), null);
    }
  });

  it('does not verify when two issued ids are spliced', () => {
    fc.assert(
      fc.property(fc.integer({ min: 5, max: subIdCharacters - 1 }), (at) => {
        const [one, other] = [issue(), issue()];
        const spliced = one.slice(0, at) + other.slice(at);
        fc.pre(spliced !== one && spliced !== other);
        assert.equal(ours.verify(spliced), null);
      }),
    );
  });

  it('does not verify, and throws nothing, when it is any text at all', () => {
    const digits = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 });
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 100 }),
      digits.map((hex) => `sub_${hex}`),
      fc.string({ unit: 'binary', minLength: 64, maxLength: 64 }).map((noise) => `sub_${noise}`),
    );
    fc.assert(fc.property(text, (id) => assert.equal(ours.verify(id), null)));
  });
});

describe('a sub_id of another secret', () => {
  it('does not verify, though its secret has the same number', () => {
    assert.equal(ours.verify(issue(subIdsOf(ringOf('theirs')))), null);
  });

  it('verifies as long as its secret is listed', () => {
    const before = issue(subIdsOf(ringOf('first')));
    const rotated = subIdsOf(ringOf('first', 'second'));
    assert.equal(decodeSubId(rotated.verify(before)!).secretNumber, 1);
    assert.equal(decodeSubId(rotated.verify(issue(rotated))!).secretNumber, 2);
  });

  it('does not verify where only an older secret is listed', () => {
    const after = issue(subIdsOf(ringOf('first', 'second')));
    assert.equal(subIdsOf(ringOf('first')).verify(after), null);
  });
});
