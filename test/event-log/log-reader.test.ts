import assert from 'node:assert/strict';
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { LogUnavailableError } from '../../src/event-log/event-log.ts';
import { segmentFileName, segmentHeaderLength } from '../../src/event-log/log-format.ts';
import { CursorBeyondLogError, LogReader, readRecentRecords } from '../../src/event-log/log-reader.ts';
import type { LogCursor } from '../../src/event-log/log-scanner.ts';
import { parseRecordTimeMs } from '../../src/ledger/ledger-record.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { openTemporaryLedger } from '../support/temporary-logs.ts';
import {
  appendOneByOne,
  appendTogether,
  damageByte,
  openLog,
  openTestLog,
  positionOf,
  recordAt,
  removeEndMark,
  segmentFiles,
  upTo,
  writeLog,
} from './log-fixture.ts';

/** Opens a reader, which is closed after the test. */
function openReader(t: TestContext, folder: string, cursor: LogCursor | null = null): LogReader {
  const reader = new LogReader(folder, cursor);
  runAfterTest(t, () => reader.close());
  return reader;
}

/** Reads and checks the durable records. Returns their positions. */
function readAll(reader: LogReader, durable: number): number[] {
  const read: number[] = [];
  const visit = (position: number, record: unknown) => {
    assert.equal(positionOf(record), position);
    read.push(position);
  };
  assert.equal(reader.readRecords(durable, Number.POSITIVE_INFINITY, visit), read.length);
  return read;
}

/** Returns the cursor after a position. */
function readUpTo(folder: string, position: number): LogCursor {
  const reader = new LogReader(folder, null);
  reader.readRecords(position, position, () => {});
  reader.close();
  return reader.cursor;
}

test('a reader reads all new records while the log starts several new segments', async (t) => {
  const { folder, log } = await openTestLog(t, { segmentBytesMax: 600 });
  const reader = openReader(t, folder);
  const read: number[] = [];
  for (let round = 0; round < 30; round++) {
    await Promise.all(appendTogether(log, 1 + (round % 5)));
    read.push(...readAll(reader, log.durablePosition));
    assert.equal(read.length, log.durablePosition);
  }
  assert.deepEqual(read, upTo(90));
  assert.ok(segmentFiles(folder).length > 5);
});

test('a reader stops at the given position or after the given number of records', async (t) => {
  const { folder, log } = await openTestLog(t);
  await Promise.all(appendTogether(log, 20));
  const reader = openReader(t, folder);
  const read: number[] = [];
  const visit = (position: number) => read.push(position);
  assert.equal(reader.readRecords(5, 100, visit), 5);
  assert.equal(reader.readRecords(5, 100, visit), 0);
  assert.equal(reader.readRecords(20, 4, visit), 4);
  assert.equal(reader.readRecords(3, 100, visit), 0);
  assert.equal(reader.readRecords(20, 100, visit), 11);
  assert.deepEqual(read, upTo(20));
});

test('a reader of an empty log waits for the first record of the log', async (t) => {
  const { folder, log } = await openTestLog(t);
  const reader = openReader(t, folder);
  assert.equal(
    reader.readRecords(0, 10, () => assert.fail()),
    0,
  );
  assert.deepEqual(reader.cursor, { position: 0, segment: 0, offset: 0, crc: 0 });
  await appendOneByOne(log, 1);
  const again = openReader(t, folder, reader.cursor);
  assert.deepEqual(readAll(again, 1), [1]);
});

test('a cursor that was stored as JSON continues with the next record', async (t) => {
  const { folder, log } = await openTestLog(t, { segmentBytesMax: 600 });
  await appendOneByOne(log, 25);
  await log.close();
  let stored: string | null = null;
  for (let position = 1; position <= 25; position++) {
    const reader = openReader(t, folder, stored === null ? null : (JSON.parse(stored) as LogCursor));
    assert.equal(
      reader.readRecords(25, 1, (found) => assert.equal(found, position)),
      1,
    );
    stored = JSON.stringify(reader.cursor);
  }
});

test('rejects a cursor beyond the end of the log', async (t) => {
  const folder = temporaryFolder(t);
  const [file] = await writeLog(folder, [1, 1, 1, 1, 1]);
  const cursor = readUpTo(folder, 5);
  removeEndMark(folder);
  truncateSync(file!, cursor.offset - 1);
  assert.throws(() => new LogReader(folder, cursor), CursorBeyondLogError);

  // The log goes on differently from before the cursor, and grows beyond it.
  await writeLog(folder, [1, 1, 1, 1, 1]);
  writeFileSync(file!, Buffer.concat([readFileSync(file!), Buffer.alloc(1_000)]));
  assert.throws(() => new LogReader(folder, cursor), CursorBeyondLogError);

  rmSync(file!);
  assert.throws(() => new LogReader(folder, cursor), CursorBeyondLogError);
});

test('rejects a cursor if the records before the cursor have changed since the cursor was stored', async (t) => {
  const [one, other] = [temporaryFolder(t), temporaryFolder(t)];
  for (const [folder, shift] of [
    [one, 0],
    [other, 1],
  ] as const) {
    for (const positions of [
      [1, 2, 3],
      [4, 5, 6, 7, 8],
    ]) {
      const log = await openLog(folder);
      // The first record of the second segment, and all before it, are the same in both.
      for (const position of positions) await log.append(recordAt(position + (position > 4 ? shift : 0)))!.durable;
      await log.close();
    }
  }
  for (let position = 1; position <= 8; position++) {
    const cursor = readUpTo(one, position);
    if (position <= 4) new LogReader(other, cursor).close();
    else assert.throws(() => new LogReader(other, cursor), CursorBeyondLogError, `record ${position}`);
  }
  // A log with fewer records in as many bytes ends before the cursor.
  const cursor = readUpTo(one, 8);
  const file = join(one, segmentFileName(4));
  const { length } = readFileSync(file);
  truncateSync(file, readUpTo(one, 6).offset);
  truncateSync(file, length);
  assert.throws(() => new LogReader(one, cursor), CursorBeyondLogError);
});

for (const [what, at] of [
  ['a record', segmentHeaderLength + 30],
  ['the header', 3],
] as const) {
  test(`a reader reads the records after its cursor, even if ${what} before the cursor is damaged`, async (t) => {
    const folder = temporaryFolder(t);
    const [file] = await writeLog(folder, [1, 1, 1, 1, 1]);
    const cursor = readUpTo(folder, 3);
    damageByte(file!, at);
    const again = openReader(t, folder, cursor);
    assert.deepEqual(readAll(again, 5), [4, 5]);
  });
}

test('reads up to a damaged record and reports its file and offset', async (t) => {
  const folder = temporaryFolder(t);
  const [file] = await writeLog(folder, [1, 1, 1, 1, 1]);
  const { offset } = readUpTo(folder, 3);
  damageByte(file!, offset + 25);
  const again = openReader(t, folder);
  assert.throws(() => readAll(again, 5), { name: 'LogDamagedError', file, offset });
  assert.equal(again.cursor.position, 3);
});

test('a reader throws LogDamagedError if no segment contains the next record', async (t) => {
  const folder = temporaryFolder(t);
  assert.throws(() => readAll(new LogReader(folder, null), 1), { name: 'LogDamagedError' });
});

const sinceRecord = (position: number) => ({ wallMs: recordAt(position)[1], timeMsOf: parseRecordTimeMs });

test('readRecentRecords reads the records that were appended to an open log before the call', async (t) => {
  const { folder, log } = await openTestLog(t);
  for (const count of [0, 1, 2_500]) {
    for (let at = 0; at < count; at++) log.appendWithoutWaiting(recordAt(log.lastAppendedPosition + 1));
    const last = log.lastAppendedPosition;
    const positions: number[] = [];
    const reading = readRecentRecords(folder, log, sinceRecord(0), (record) => positions.push(positionOf(record)));
    log.appendWithoutWaiting(recordAt(last + 1));
    await reading;
    assert.deepEqual(positions, upTo(last));
  }
});

test('readRecentRecords starts at the last segment whose first record is older than the requested time', async (t) => {
  // A segment for each record.
  const { folder, log } = await openTestLog(t, { segmentBytesMax: 1 });
  await appendOneByOne(log, 20);
  const positions: number[] = [];
  await readRecentRecords(folder, log, sinceRecord(15), (record) => positions.push(positionOf(record)));
  assert.deepEqual(positions, upTo(20, 14));
});

test('readRecentRecords yields to the event loop between batches', async (t) => {
  const { folder, log } = await openTestLog(t);
  for (let at = 1; at < 3_000; at++) log.appendWithoutWaiting(recordAt(at));
  await log.append(recordAt(3_000))!.durable;
  let [visited, most] = [0, 0];
  const reading = readRecentRecords(folder, log, sinceRecord(0), () => visited++);
  for (let before = visited; before < 3_000; before = visited) {
    most = Math.max(most, visited - before);
    await new Promise((resolve) => setImmediate(resolve));
    most = Math.max(most, visited - before);
  }
  await reading;
  assert.ok(most > 0 && most <= bounds.logRecordsReadPerTurn, `${most}`);
});

test('readRecentRecords fails while the log cannot write queued records', async (t) => {
  const { log, folder, breakFiles, repairFiles: repair } = await openTemporaryLedger(t);
  await log.append(recordAt(1))!.durable;
  breakFiles();
  await assert.rejects(log.append(recordAt(2))!.durable, LogUnavailableError);
  let visited = 0;
  const read = () => readRecentRecords(folder, log, sinceRecord(0), () => visited++);
  await assert.rejects(read(), LogUnavailableError);
  assert.equal(visited, 0);
  const healed = new Promise<void>((resolve) => log.setDurabilityListener(() => resolve()));
  repair();
  await healed;
  await read();
  assert.equal(visited, 2);
});
