import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { LogFiles } from '../../src/event-log/log-files.ts';
import { nodeLogFiles } from '../../src/event-log/log-files.ts';
import { encodeSegmentHeader, segmentFileName } from '../../src/event-log/log-format.ts';
import { LogRewrittenError, LogScanner } from '../../src/event-log/log-scanner.ts';
import {
  appendOneByOne,
  appendTogether,
  openLog,
  positionOf,
  removeEndMark,
  scratchFolder,
  segmentFiles,
} from './log-fixture.ts';

function walkOf(folder: string): LogScanner {
  return new LogScanner(nodeLogFiles, folder, { decode: true });
}

/** Steps to the end of the log, checking every record, and returns how many there were. */
function toTheEnd(walk: LogScanner): number {
  let records = 0;
  while (walk.nextRecord()) {
    assert.equal(positionOf(walk.record), walk.position);
    records++;
  }
  return records;
}

test('scans a log during writes, and continues when records are added', async (t) => {
  const folder = scratchFolder(t);
  const log = await openLog(folder, { segmentBytesMax: 700 });
  const walk = walkOf(folder);
  for (let round = 1; round <= 20; round++) {
    await Promise.all(appendTogether(log, round % 4));
    toTheEnd(walk);
    assert.equal(walk.position, log.durablePosition);
    assert.equal(walk.tornBytes, 0);
  }
  assert.ok(segmentFiles(folder).length > 3);
  walk.close();
  walk.close();
  await log.close();
});

test('accepts a record that the writer completes during the scan', async (t) => {
  const folder = scratchFolder(t);
  const log = await openLog(folder);
  await appendOneByOne(log, 3);
  await log.close();
  removeEndMark(folder);
  const [file] = segmentFiles(folder);
  const whole = readFileSync(file!);
  const first = walkOf(folder);
  assert.ok(first.nextRecord());
  const second = first.segment!.offset;
  first.close();

  // As if the third record had been seen before the second, which its group shows to have been synced.
  const holed = Buffer.from(whole).fill(0, second, second + 20);
  writeFileSync(file!, holed);
  let reads = 0;
  const files: LogFiles = {
    ...nodeLogFiles,
    openForReading(path) {
      const opened = nodeLogFiles.openForReading(path);
      const read: typeof opened.read = (target, position) => {
        const got = opened.read(target, position);
        if (++reads === 2) writeFileSync(path, whole);
        return got;
      };
      return { size: () => opened.size(), read, close: () => opened.close() };
    },
  };
  const walk = new LogScanner(files, folder, { decode: true });
  assert.equal(toTheEnd(walk), 3);
  assert.ok(reads > 2);
  walk.close();

  writeFileSync(file!, holed);
  const damaged = walkOf(folder);
  assert.ok(damaged.nextRecord());
  assert.throws(() => damaged.nextRecord(), { name: 'LogDamagedError', file, offset: second });
  damaged.close();
});

test('counts the bytes of an incomplete record', async (t) => {
  const folder = scratchFolder(t);
  const log = await openLog(folder);
  await appendOneByOne(log, 2);
  await log.close();
  removeEndMark(folder);
  appendFileSync(segmentFiles(folder)[0]!, Buffer.from([0, 0, 0, 40, 1, 2, 3, 4, 5, 0, 0, 0]));
  const walk = walkOf(folder);
  assert.equal(toTheEnd(walk), 2);
  assert.equal(walk.tornBytes, 9);
  walk.close();
});

test('reports that the writer moved records after the scan', async (t) => {
  const folder = scratchFolder(t);
  const log = await openLog(folder);
  await appendOneByOne(log, 3);
  const walk = walkOf(folder);
  for (let i = 0; i < 3; i++) walk.nextRecord();
  writeFileSync(join(folder, segmentFileName(3)), encodeSegmentHeader({ firstSequence: 3, previousCrc: 0 }));
  assert.throws(() => walk.nextRecord(), LogRewrittenError);
  walk.close();
  await log.close();
});

test('starts a scan at any segment', async (t) => {
  const folder = scratchFolder(t);
  for (let round = 0; round < 3; round++) {
    const log = await openLog(folder);
    await appendOneByOne(log, 2);
    await log.close();
  }
  const walk = new LogScanner(nodeLogFiles, folder, { segment: 3, decode: true });
  assert.equal(toTheEnd(walk), 4);
  const whole = walkOf(folder);
  toTheEnd(whole);
  assert.deepEqual([walk.position, walk.crc], [whole.position, whole.crc]);
  walk.close();
  whole.close();
});
