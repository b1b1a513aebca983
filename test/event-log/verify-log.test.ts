import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Encoder } from '@msgpack/msgpack';
import { nodeLogFiles } from '../../src/event-log/log-files.ts';
import { encodeSegmentHeader, frameCrc, segmentFileName, segmentHeaderBytes } from '../../src/event-log/log-format.ts';
import { recoverLog } from '../../src/event-log/log-recovery.ts';
import { LogDamagedError } from '../../src/event-log/segment-reader.ts';
import { verifyLog } from '../../src/event-log/verify-log.ts';
import { appendOneByOne, openLog, plain, recordsUpTo, scratchFolder, segmentFiles } from './log-fixture.ts';

/** A closed log of three segments with four records each, and its end mark. */
async function threeSegments(folder: string): Promise<string[]> {
  for (let i = 0; i < 3; i++) {
    const log = await openLog(folder);
    await appendOneByOne(log, 4);
    await log.close();
  }
  return segmentFiles(folder);
}

test('counts the records and bytes of an undamaged log', async (t) => {
  const folder = scratchFolder(t);
  const files = await threeSegments(folder);
  const records: unknown[] = [];
  let bytes = 0;
  const check = await verifyLog(nodeLogFiles, folder, {
    onRecord: (position, record) => assert.equal(records.push(record), position),
    onBytesRead: (more) => {
      bytes += more;
    },
  });
  assert.deepEqual(plain(records), plain(recordsUpTo(12)));
  const endMark = join(folder, segmentFileName(13));
  const sizes = [...files, endMark].map((file) => statSync(file).size);
  const { crc, ...rest } = check;
  assert.equal(crc, (await recoverLog(nodeLogFiles, folder, undefined)).crc);
  const end = { file: endMark, offset: segmentHeaderBytes };
  const size = sizes.reduce((sum, one) => sum + one, 0);
  const counted = { segments: 4, bytes: size, records: 12, position: 12 };
  assert.deepEqual(rest, { folder, ...counted, end, tornBytes: 0, damage: null });
  assert.equal(bytes, size);
});

test('treats a folder without segments as a log without records', async (t) => {
  const folder = scratchFolder(t);
  const check = await verifyLog(nodeLogFiles, folder);
  assert.deepEqual([check.segments, check.records, check.end, check.damage], [0, 0, null, null]);
});

test('reports the same damage as opening the log, without changing a file', async (t) => {
  const folder = scratchFolder(t);
  const files = await threeSegments(folder);
  for (const file of files) {
    const whole = readFileSync(file);
    for (let at = 0; at < whole.length; at += 3) {
      const damaged = Buffer.from(whole);
      damaged[at]! ^= 0x55;
      writeFileSync(file, damaged);
      const { damage, tornBytes } = await verifyLog(nodeLogFiles, folder);
      assert.ok(readFileSync(file).equals(damaged));
      let refusal: unknown = null;
      try {
        const { removedTail } = await recoverLog(nodeLogFiles, folder, () => {});
        assert.equal(tornBytes, removedTail?.bytes ?? 0);
      } catch (error) {
        refusal = error;
      }
      assert.ok(refusal === null || refusal instanceof LogDamagedError);
      assert.equal(damage?.message, refusal?.message, `byte ${at}`);
    }
    writeFileSync(file, whole);
  }
});

test('counts the records before the damage', async (t) => {
  const folder = scratchFolder(t);
  const [first, second] = await threeSegments(folder);
  const bytes = readFileSync(second!);
  bytes[0]! ^= 1;
  writeFileSync(second!, bytes);
  const check = await verifyLog(nodeLogFiles, folder);
  assert.deepEqual([check.segments, check.records, check.position], [4, 4, 4]);
  assert.deepEqual(check.end, { file: first, offset: statSync(first!).size });
});

test('reports a record that cannot be decoded as damage', async (t) => {
  const folder = scratchFolder(t);
  const payloads = [[1, 2], 7].map((value) => new Encoder().encode(value));
  const file = `${folder}/0000000000000001.log`;
  writeFileSync(file, encodeSegmentHeader({ firstSequence: 1, previousCrc: 0 }));
  let crc = 0;
  for (const [index, payload] of payloads.entries()) {
    crc = frameCrc(index + 1, crc, payload);
    const head = Buffer.alloc(8);
    head.writeUInt32BE(payload.length, 0);
    head.writeUInt32BE(crc, 4);
    appendFileSync(file, Buffer.concat([head, payload]));
  }
  const check = await verifyLog(nodeLogFiles, folder);
  assert.equal(check.damage?.offset, segmentHeaderBytes + 8 + payloads[0]!.length);
  assert.match(check.damage.reason, /cannot be decoded/);
  assert.deepEqual([check.position, check.end?.offset], [1, check.damage.offset]);
});

test('verifies a log during writes', async (t) => {
  const folder = scratchFolder(t);
  const log = await openLog(folder, { segmentBytesMax: 900 });
  for (let round = 0; round < 40; round++) {
    await appendOneByOne(log, 1);
    const pending = log.append([1, 1, new Uint8Array(32), 'a tag', 1, 0, null])!;
    const { damage, position } = await verifyLog(nodeLogFiles, folder);
    assert.equal(damage, null);
    assert.ok(position >= log.durablePosition);
    await pending.durable;
  }
  await log.close();
});
