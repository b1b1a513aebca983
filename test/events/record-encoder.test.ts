import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encode } from '@msgpack/msgpack';
import fc from 'fast-check';
import { RecordEncoder } from '../../src/events/record-encoder.ts';

const edges = [
  0,
  0x7f,
  0x80,
  0xff,
  0x100,
  0xffff,
  0x1_0000,
  2 ** 31,
  2 ** 32 - 1,
  2 ** 32,
  2 ** 53 - 1,
  2 ** 53,
  -1,
  -0,
  0.5,
];
const lengths = [0, 1, 15, 16, 31, 32, 63, 64, 65, 255, 256, 70_000];

const scalar = fc.oneof(
  fc.maxSafeNat(),
  fc.nat(300),
  fc.constantFrom(...edges),
  fc.double(),
  fc.string({ unit: 'grapheme-ascii', maxLength: 80 }),
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.uint8Array({ maxLength: 80 }),
  fc.constantFrom(null, undefined, true, false),
);
const record = fc.array(fc.oneof(scalar, fc.array(scalar, { maxLength: 20 })), { maxLength: 20 });

test('whatever a record holds is written as the library writes it, wherever it stands', () => {
  const encoder = new RecordEncoder();
  fc.assert(
    fc.property(record, fc.nat(50), (value, at) => {
      const expected = encode(value);
      const target = Buffer.alloc(at + expected.length + 3, 0xee);
      assert.equal(encoder.write(target, at, value), at + expected.length);
      assert.deepEqual(target.subarray(at, at + expected.length), Buffer.from(expected));
      assert.ok(target.subarray(0, at).every((byte) => byte === 0xee));
      assert.deepEqual([...target.subarray(at + expected.length)], [0xee, 0xee, 0xee]);
    }),
    { numRuns: 1_000 },
  );
});

test('numbers, texts, bytes and arrays where their form changes', () => {
  const encoder = new RecordEncoder();
  const target = Buffer.alloc(100_000);
  const values: unknown[] = [
    ...edges,
    ...lengths.flatMap((length) => [
      'x'.repeat(length),
      `${'x'.repeat(length)}é`,
      new Uint8Array(length).fill(7),
      Buffer.alloc(length, 7),
      new Array<number>(Math.min(length, 300)).fill(3),
    ]),
    '\ud800',
    [[['deep']]],
  ];
  for (const value of values) {
    const end = encoder.write(target, 5, value);
    assert.deepEqual(target.subarray(5, end), Buffer.from(encode(value)));
  }
});

test('what does not fit tells how much room it needs, and leaves what lies behind alone', () => {
  const encoder = new RecordEncoder();
  fc.assert(
    fc.property(record, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (value, share) => {
      const expected = encode(value);
      const memory = Buffer.alloc(expected.length + 8, 0xee);
      const target = memory.subarray(0, Math.floor(expected.length * share));
      assert.equal(encoder.write(target, 0, value), expected.length);
      assert.ok(memory.subarray(target.length).every((byte) => byte === 0xee));
    }),
  );
});
