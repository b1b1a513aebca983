import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import {
  computeFrameCrc,
  decodeSegmentHeader,
  encodeSegmentHeader,
  isTemporaryFileName,
  parseSegmentFileNames,
  readSequenceNumber,
  segmentFileName,
  sequenceFieldsLength,
  temporaryFileName,
  writeSequenceFields,
} from '../../src/event-log/log-format.ts';

const u32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const sequence = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });

test('decodes every encoded segment header and sequence number up to the largest safe integer', () => {
  fc.assert(
    fc.property(sequence, u32, (firstSequence, previousCrc) => {
      const header = { firstSequence, previousCrc };
      assert.deepEqual(decodeSegmentHeader(encodeSegmentHeader(header)), header);
      const fields = Buffer.alloc(sequenceFieldsLength);
      writeSequenceFields(fields, 0, firstSequence, previousCrc);
      assert.equal(readSequenceNumber(fields, 0), firstSequence);
    }),
  );
});

for (const [what, value, at] of [
  ['shard', 4, 12],
  ['format version', 9, 8],
] as const) {
  test(`rejects a segment header with a wrong ${what}`, () => {
    const header = encodeSegmentHeader({ firstSequence: 77, previousCrc: 5 });
    header.writeUInt32BE(value, at);
    header.writeUInt32BE(crc32(header.subarray(0, 28)), 28);
    assert.match(decodeSegmentHeader(header) as string, new RegExp(`${what} ${value}`));
  });
}

test('the CRC of a record covers its sequence number, its payload and the CRC of the previous record', () => {
  fc.assert(
    fc.property(sequence, u32, fc.uint8Array({ minLength: 1 }), (position, previousCrc, payload) => {
      const whole = Buffer.alloc(12 + payload.length);
      whole.writeBigUInt64BE(BigInt(position), 0);
      whole.writeUInt32BE(previousCrc, 8);
      whole.set(payload, 12);
      assert.equal(computeFrameCrc(position, previousCrc, payload), crc32(whole));
    }),
  );
});

test('segment file names sort by the sequence number of the first record', () => {
  fc.assert(
    fc.property(sequence, sequence, (a, b) => {
      assert.equal(segmentFileName(a) < segmentFileName(b), a < b);
    }),
  );
});

test('parseSegmentFileNames ignores the names of files that are not segments', () => {
  const names = [
    segmentFileName(20),
    temporaryFileName(segmentFileName(3)),
    'lock',
    '1.log',
    segmentFileName(9),
    `${segmentFileName(4)}~`,
  ];
  assert.deepEqual(parseSegmentFileNames(names), [9, 20]);
  assert.deepEqual(names.filter(isTemporaryFileName), [temporaryFileName(segmentFileName(3))]);
});
