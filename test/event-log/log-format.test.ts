import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import {
  chainFieldsBytes,
  decodeSegmentHeader,
  encodeSegmentHeader,
  frameCrc,
  isTemporaryFile,
  readSequence,
  segmentFileName,
  segmentFirstSequences,
  temporaryFileName,
  writeChainFields,
} from '../../src/event-log/log-format.ts';

const u32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const sequence = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });

test('a segment header survives its bytes', () => {
  fc.assert(
    fc.property(sequence, u32, (firstSequence, previousCrc) => {
      const header = { firstSequence, previousCrc };
      assert.deepEqual(decodeSegmentHeader(encodeSegmentHeader(header)), header);
    }),
  );
});

test('a segment header with any byte changed, or cut short, is refused', () => {
  const header = encodeSegmentHeader({ firstSequence: 77, previousCrc: 5 });
  for (let at = 0; at < header.length; at++) {
    const changed = Buffer.from(header);
    changed[at]! ^= 1;
    assert.equal(typeof decodeSegmentHeader(changed), 'string', `byte ${at}`);
    assert.equal(typeof decodeSegmentHeader(header.subarray(0, at)), 'string', `${at} bytes`);
  }
});

test('a header of another shard is refused', () => {
  const header = encodeSegmentHeader({ firstSequence: 77, previousCrc: 5 });
  header.writeUInt32BE(4, 12);
  header.writeUInt32BE(crc32(header.subarray(0, 28)), 28);
  assert.match(decodeSegmentHeader(header) as string, /shard 4/);
});

test('a header of another format version is named as such', () => {
  const header = encodeSegmentHeader({ firstSequence: 77, previousCrc: 5 });
  header.writeUInt32BE(9, 8);
  header.writeUInt32BE(crc32(header.subarray(0, 28)), 28);
  assert.match(decodeSegmentHeader(header) as string, /format version 9/);
});

test('the CRC of a frame is that of sequence, previous CRC and payload end to end', () => {
  fc.assert(
    fc.property(sequence, u32, fc.uint8Array({ minLength: 1 }), (position, previousCrc, payload) => {
      const whole = Buffer.alloc(12 + payload.length);
      whole.writeBigUInt64BE(BigInt(position), 0);
      whole.writeUInt32BE(previousCrc, 8);
      whole.set(payload, 12);
      assert.equal(frameCrc(position, previousCrc, payload), crc32(whole));
    }),
  );
});

test('a sequence number survives its bytes over the whole range of safe integers', () => {
  fc.assert(
    fc.property(sequence, (position) => {
      const bytes = Buffer.alloc(chainFieldsBytes);
      writeChainFields(bytes, 0, position, 0);
      assert.equal(readSequence(bytes, 0), position);
    }),
  );
});

test('segment names sort like their first sequences', () => {
  fc.assert(
    fc.property(sequence, sequence, (a, b) => {
      assert.equal(segmentFileName(a) < segmentFileName(b), a < b);
    }),
  );
});

test('only segments are taken for segments', () => {
  const names = [
    segmentFileName(20),
    temporaryFileName(segmentFileName(3)),
    'lock',
    '1.log',
    segmentFileName(9),
    `${segmentFileName(4)}~`,
  ];
  assert.deepEqual(segmentFirstSequences(names), [9, 20]);
  assert.deepEqual(names.filter(isTemporaryFile), [temporaryFileName(segmentFileName(3))]);
});
