import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Encoder } from '@msgpack/msgpack';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import type { EventLogProblem } from '../../src/event-log/file-event-log.ts';
import { nodeFileSystem } from '../../src/event-log/log-files.ts';
import {
  computeFrameCrc,
  encodeSegmentHeader,
  segmentFileName,
  segmentHeaderLength,
  sequenceFieldsLength,
  temporaryFileName,
} from '../../src/event-log/log-format.ts';
import { recoverLog } from '../../src/event-log/log-recovery.ts';
import { LogDamagedError } from '../../src/event-log/segment-reader.ts';
import { verifyLog } from '../../src/event-log/verify-log.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { FailingLogFiles } from './failing-log-files.ts';
import {
  copyOf,
  damageByte,
  openLog,
  plain,
  recordAt,
  recordEnds,
  recordsUpTo,
  recoveredRecords,
  removeEndMark,
  segmentFiles,
  upTo,
  writeLog,
} from './log-fixture.ts';

/** Writes a log of one segment without an end mark, as after a crash. Returns its folder, the segment and the ends of its records. */
async function crashedLog(t: TestContext, groups: readonly number[]) {
  const folder = temporaryFolder(t);
  const file = (await writeLog(folder, groups))[0]!;
  removeEndMark(folder);
  const ends = recordEnds(file);
  assert.equal(ends.at(-1), statSync(file).size);
  return { folder, file, ends };
}

test('cuts a log after the last complete record, and copies the bytes of an incomplete record to a file', async (t) => {
  const { folder, file, ends } = await crashedLog(t, [1, 3, 1, 4]);
  const whole = readFileSync(file);
  const isNearEnd = (size: number) => ends.some((end) => Math.abs(end - size) <= 1);
  for (let size = segmentHeaderLength; size <= whole.length; size++) {
    if (size % 4 > 0 && !isNearEnd(size)) continue;
    writeFileSync(file, whole.subarray(0, size));
    const incidents: EventLogProblem[] = [];
    const survivors = ends.filter((end) => end <= size).length;
    const end = ends[survivors - 1] ?? segmentHeaderLength;
    const records = await recoveredRecords(folder, { onIncident: (incident) => incidents.push(incident) });
    assert.deepEqual(plain(records), plain(recordsUpTo(survivors)), `size ${size}`);
    assert.equal(statSync(file).size, end);
    // Zeros at the end are treated as preallocated.
    const torn = whole.subarray(end, size).findLastIndex((byte) => byte !== 0) + 1;
    const copies = readdirSync(folder).filter((name) => name.includes('.from-'));
    assert.equal(copies.length, Math.min(torn, 1), `size ${size}`);
    for (const name of copies) {
      const copyFile = join(folder, name);
      assert.deepEqual(incidents, [{ kind: 'torn-tail-removed', file, offset: end, bytes: torn, copyFile }]);
      assert.ok(readFileSync(copyFile).equals(whole.subarray(end, end + torn)));
      assert.equal(statSync(copyFile).mode & 0o777, 0o600);
      rmSync(copyFile);
    }
    if (torn === 0) assert.deepEqual(incidents, []);
    removeEndMark(folder);
  }
});

test('recovery copies bytes to a new file before removing the bytes from the log, unless an identical copy exists', async (t) => {
  const { folder, file, ends } = await crashedLog(t, [1, 2]);
  for (const tail of ['one', 'other', 'one']) {
    writeFileSync(file, Buffer.concat([readFileSync(file).subarray(0, ends[0]), Buffer.from(tail)]));
    const files = new FailingLogFiles();
    const log = await openLog(folder, { files });
    // The copy is complete before the log is truncated.
    const copied = ['write', 'datasync', 'rename', 'syncFolder'];
    assert.deepEqual(files.steps, [...copied, 'write', 'truncate', 'datasync', 'syncFolder']);
    await log.close();
    removeEndMark(folder);
  }
  const kept = readdirSync(folder).filter((name) => name.startsWith(`${segmentFileName(1)}.from-${ends[0]}.`));
  assert.deepEqual(kept.map((name) => readFileSync(join(folder, name), 'utf8')).sort(), ['one', 'other']);
});

test('rejects a closed log if any byte is damaged or the tail is missing', async (t) => {
  const folder = temporaryFolder(t);
  await writeLog(folder, [1, 3, 2]);
  for (const file of readdirSync(folder).map((name) => join(folder, name))) {
    const whole = readFileSync(file);
    for (let at = 0; at < whole.length; at++) {
      const damaged = Buffer.from(whole);
      damaged[at]! ^= 1;
      for (const bytes of [damaged, whole.subarray(0, at)]) {
        writeFileSync(file, bytes);
        await assert.rejects(openLog(folder), { name: 'LogDamagedError', file }, `byte ${at}`);
      }
    }
    writeFileSync(file, whole);
  }
  assert.deepEqual(plain(await recoveredRecords(folder)), plain(recordsUpTo(6)));
});

test('detects a truncated segment of a closed log, even if another process opened the log later and was killed', async (t) => {
  const folder = temporaryFolder(t);
  await writeLog(folder, [1, 1, 1]);
  const next = await openLog(folder);
  const [killedBeforeItsFirstRecord, afterIt] = [
    copyOf(folder, t),
    await next.append(recordAt(4))!.durable.then(() => copyOf(folder, t)),
  ];
  await next.close();
  for (const [left, records] of [
    [killedBeforeItsFirstRecord, 3],
    [afterIt, 4],
  ] as const) {
    assert.equal((await recoveredRecords(copyOf(left, t))).length, records);
    const [file] = segmentFiles(left);
    truncateSync(file!, statSync(file!).size - 1);
    await assert.rejects(openLog(left), { name: 'LogDamagedError', file });
  }
});

test('recovery restores every record before the last write, even if the last write is incomplete', async (t) => {
  const { folder, file, ends } = await crashedLog(t, [2, 2, 6]);
  const whole = readFileSync(file);
  const lastGroup = ends[3]!;
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: lastGroup, max: whole.length - 1 }),
      fc.oneof(
        fc.uint8Array({ maxLength: 400 }),
        fc.nat(4_000).map((zeros) => new Uint8Array(zeros)),
      ),
      async (from, garbage) => {
        const torn = Buffer.alloc(Math.max(whole.length, from + garbage.length));
        whole.copy(torn);
        torn.set(garbage, from);
        writeFileSync(file, torn);
        const records = await recoveredRecords(folder);
        removeEndMark(folder);
        assert.ok(records.length >= 4);
        assert.deepEqual(plain(records), plain(recordsUpTo(records.length)));
      },
    ),
  );
});

test('if a log is damaged before the records of the last write, openLog fails and reports the file and the offset', async (t) => {
  const { folder, file, ends } = await crashedLog(t, [1, 3, 1, 2]);
  const whole = readFileSync(file);
  const starts = [segmentHeaderLength, ...ends];
  const lastGroup = ends[4]!;
  for (let at = 0; at < lastGroup; at++) {
    const damaged = Buffer.from(whole);
    damaged[at]! ^= 0x55;
    writeFileSync(file, damaged);
    const offset = at < segmentHeaderLength ? 0 : starts.findLast((start) => start <= at)!;
    await assert.rejects(openLog(folder), (error) => {
      assert.ok(error instanceof LogDamagedError, `byte ${at}`);
      assert.equal(error.file, file);
      assert.equal(error.offset, offset, `byte ${at}`);
      assert.ok(error.message.includes(file) && error.message.includes(`byte ${offset}`));
      return true;
    });
    assert.ok(readFileSync(file).equals(damaged), 'a rejected log is not changed');
  }
});

test('recovery writes and syncs the last group of records again, because a crash may have prevented the sync', async (t) => {
  const { folder, file, ends } = await crashedLog(t, [2, 3]);
  const files = new FailingLogFiles();
  const written: [number, number][] = [];
  const openForWriting = files.openForWriting.bind(files);
  files.openForWriting = async (path) => {
    const opened = await openForWriting(path);
    const write: typeof opened.write = (source, length, position) => {
      written.push([position, position + length]);
      return opened.write(source, length, position);
    };
    return { ...opened, write };
  };
  const whole = readFileSync(file);
  const log = await openLog(folder, { files });
  assert.deepEqual(written, [[ends[1], ends[4]]]);
  assert.deepEqual(files.steps, ['write', 'datasync', 'syncFolder']);
  await log.close();
  assert.ok(readFileSync(file).equals(whole));
});

test('rejects a log with a missing segment', async (t) => {
  const folder = temporaryFolder(t);
  await writeLog(folder, [2], [2], [2]);
  const files = new FailingLogFiles();
  files.listFiles = () => [segmentFileName(1), segmentFileName(5)];
  await assert.rejects(openLog(folder, { files }), { name: 'LogDamagedError', file: join(folder, segmentFileName(1)) });
});

test('recovery deletes temporary files that a crash left in the folder of the log', async (t) => {
  const { folder } = await crashedLog(t, [2]);
  appendFileSync(join(folder, temporaryFileName(segmentFileName(3))), 'half a hea');
  appendFileSync(join(folder, `${segmentFileName(1)}.from-90.0123abcd.new`), 'half a ta');
  assert.equal((await recoveredRecords(folder)).length, 2);
  assert.deepEqual(readdirSync(folder).sort(), [segmentFileName(1), segmentFileName(3)]);
});

test('recovery detects damage even if the next undamaged group begins near the end of a chunk that recovery reads', async (t) => {
  const bytes = new Uint8Array(32);
  const filler = (characters: number) => [1, 0, bytes, 'x'.repeat(characters), 1, 0, null] as const;
  const frameBytes = 8 + new Encoder().encode(filler(9_000)).length;
  // The second group begins shortly before the end of the first chunk after the damage.
  for (const before of [1, 10, 19, 20, 21]) {
    const folder = temporaryFolder(t);
    const log = await openLog(folder);
    const wanted = bounds.logReadChunkBytes - before;
    const records = Math.floor(wanted / frameBytes) - 1;
    const last = 9_000 + ((wanted - sequenceFieldsLength) % frameBytes);
    const group = Array.from({ length: records }, () => log.append(filler(9_000))!.durable);
    await Promise.all([...group, log.append(filler(last))!.durable]);
    await log.append(filler(1))!.durable;
    await log.close();
    assert.equal((await recoveredRecords(folder)).length, records + 2);
    const file = segmentFiles(folder)[0]!;
    const damaged = readFileSync(file);
    assert.ok(
      damaged.readUInt32BE(segmentHeaderLength + wanted) > 0x8000_0000,
      'the second group begins where it should',
    );
    damaged[5_000]! ^= 1;
    writeFileSync(file, damaged);
    await assert.rejects(
      openLog(folder),
      { name: 'LogDamagedError', file, offset: segmentHeaderLength },
      `${before} bytes before the end`,
    );
  }
});

test('rejects an empty segment that was copied from another log', async (t) => {
  const { folder } = await crashedLog(t, [2]);
  const file = join(folder, segmentFileName(3));
  writeFileSync(file, encodeSegmentHeader({ firstSequence: 3, previousCrc: 12_345 }));
  await assert.rejects(openLog(folder), { name: 'LogDamagedError', file, offset: 0 });
});

for (const [what, payload] of [
  ['a map', new Encoder().encode([1, { a: 1 }])],
  ['an extension', new Encoder().encode([1, new Date()])],
  ['a scalar', new Encoder().encode(7)],
  ['nested arrays', new Encoder().encode([1, [2, [3]]])],
  ['deeply nested arrays', Buffer.alloc(60_000, 0x91)],
  ['an array of 2^32 items', Buffer.from([0xdd, 0xff, 0xff, 0xff, 0xff])],
  ['nested arrays with large lengths', Buffer.alloc(60_000, Buffer.from([0xdd, 0x00, 0xff, 0xff, 0xff]))],
  ['a string of 2^32 bytes', Buffer.from([0x91, 0xdb, 0xff, 0xff, 0xff, 0xff])],
  ['bytes after the record', Buffer.from([0x90, 0x90])],
] as const) {
  test(`reports a record with a valid CRC as damaged if its payload contains ${what}`, async (t) => {
    const folder = temporaryFolder(t);
    const frame = Buffer.alloc(8);
    frame.writeUInt32BE(payload.length, 0);
    frame.writeUInt32BE(computeFrameCrc(1, 0, payload), 4);
    const file = join(folder, segmentFileName(1));
    const header = encodeSegmentHeader({ firstSequence: 1, previousCrc: 0 });
    const bytes = Buffer.concat([header, frame, payload]);
    writeFileSync(file, bytes);
    const expected = { name: 'LogDamagedError', file, offset: segmentHeaderLength };
    await assert.rejects(openLog(folder, { onRecord: () => {} }), expected);
    const { damage, position } = await verifyLog(nodeFileSystem, folder);
    assert.match(damage!.reason, /cannot be decoded/);
    assert.deepEqual([damage!.file, damage!.offset, position], [file, segmentHeaderLength, 0]);
    assert.ok(readFileSync(file).equals(bytes), 'a rejected log is not changed');
  });
}

async function fourSegments(t: TestContext) {
  const folder = temporaryFolder(t);
  const files = await writeLog(folder, [1, 2], [1, 2], [1, 2], [1, 2]);
  removeEndMark(folder);
  return { folder, files };
}

const timeMsOf = (record: unknown): number => (record as number[])[1]!;
const timeAt = (position: number): number => timeMsOf(recordAt(position));

test('recovery with a start time reads every record after that time, and returns the same result as a full recovery', async (t) => {
  const { folder } = await fourSegments(t);
  const whole = await recoverLog(nodeFileSystem, folder, () => {});
  for (let since = 0; since <= 14; since++) {
    const visited: number[] = [];
    const visit = (position: number) => visited.push(position);
    const recovered = await recoverLog(nodeFileSystem, folder, visit, {
      since: { wallMs: timeAt(since), timeMsOf },
    });
    assert.deepEqual(recovered, whole);
    // The segments begin with records 1, 4, 7 and 10.
    const from = [10, 7, 4].find((first) => first < since) ?? 1;
    assert.deepEqual(visited, upTo(12, from), `since record ${since}`);
  }
});

test('recovery starts at an earlier segment if the first record of a segment is incomplete or has no timestamp', async (t) => {
  const { folder, files } = await fourSegments(t);
  const [, , third, last] = files;
  writeFileSync(last!, readFileSync(last!).subarray(0, segmentHeaderLength + 5));
  const visited: number[] = [];
  const visit = (position: number) => visited.push(position);
  const noTimeAtSeven = (record: unknown) => (timeMsOf(record) === timeAt(7) ? null : timeMsOf(record));
  const since = { wallMs: Number.POSITIVE_INFINITY, timeMsOf: noTimeAtSeven };
  await recoverLog(nodeFileSystem, folder, visit, { since });
  assert.deepEqual(visited, [4, 5, 6, 7, 8, 9]);

  damageByte(third!, 3);
  await assert.rejects(recoverLog(nodeFileSystem, folder, visit, { since }), {
    name: 'LogDamagedError',
    file: third,
    offset: 0,
  });
});

test('rejects a log only if the damage is in a segment that recovery reads', async (t) => {
  const { folder, files } = await fourSegments(t);
  const [first, , third] = files;
  damageByte(first!, segmentHeaderLength + 30);
  const readSince = { wallMs: timeAt(8), timeMsOf };
  const log = await openLog(folder, { readSince, onRecord: () => {} });
  assert.equal(log.lastAppendedPosition, 12);
  await log.close();
  await assert.rejects(openLog(folder), { name: 'LogDamagedError', file: first, offset: segmentHeaderLength });
  damageByte(third!, segmentHeaderLength + 30);
  await assert.rejects(openLog(folder, { readSince }), {
    name: 'LogDamagedError',
    file: third,
    offset: segmentHeaderLength,
  });
});
