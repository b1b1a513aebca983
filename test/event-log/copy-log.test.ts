import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { copyLog } from '../../src/event-log/copy-log.ts';
import { nodeLogFiles } from '../../src/event-log/log-files.ts';
import { segmentHeaderBytes } from '../../src/event-log/log-format.ts';
import { LogDamagedError } from '../../src/event-log/segment-reader.ts';
import { verifyLog } from '../../src/event-log/verify-log.ts';
import {
  appendOneByOne,
  openLog,
  plain,
  recordsUpTo,
  recoveredRecords,
  removeEndMark,
  scratchFolder,
  segmentFiles,
} from './log-fixture.ts';

async function twoSegments(folder: string): Promise<void> {
  for (let i = 0; i < 2; i++) {
    const log = await openLog(folder);
    await appendOneByOne(log, 4);
    await log.close();
  }
}

test('copies every record and segment; the copy accepts further records', async (t) => {
  const folder = scratchFolder(t);
  await twoSegments(folder);
  const target = join(scratchFolder(t), 'copy');
  assert.equal((await copyLog(folder, target)).records, 8);
  assert.deepEqual(
    segmentFiles(target).map((file) => basename(file)),
    segmentFiles(folder).map((file) => basename(file)),
  );
  assert.deepEqual(plain(await recoveredRecords(target)), plain(recordsUpTo(8)));
  const log = await openLog(target);
  await appendOneByOne(log, 1);
  await log.close();
  assert.equal((await recoveredRecords(target)).length, 9);
});

test('does not copy bytes after the last complete record', async (t) => {
  const folder = scratchFolder(t);
  await twoSegments(folder);
  removeEndMark(folder);
  const last = segmentFiles(folder).at(-1) as string;
  const { size } = statSync(last);
  appendFileSync(last, readFileSync(last).subarray(0, 20));
  const target = join(scratchFolder(t), 'copy');
  const copied = await copyLog(folder, target);
  assert.deepEqual([copied.records, copied.tornBytes], [8, 0]);
  assert.equal(statSync(segmentFiles(target).at(-1)!).size, size);
});

test('copies a log in use without preallocated bytes and adds an end mark', async (t) => {
  const folder = scratchFolder(t);
  const log = await openLog(folder);
  t.after(() => log.close());
  await appendOneByOne(log, 5);
  const target = join(scratchFolder(t), 'copy');
  const { records, bytes } = await copyLog(folder, target);
  const [file] = segmentFiles(target);
  const { size } = statSync(file!);
  assert.deepEqual([records, bytes], [5, size + segmentHeaderBytes]);
  truncateSync(file!, size - 1);
  assert.equal((await verifyLog(nodeLogFiles, target)).damage?.file, file);
});

test('does not copy a damaged log, and reports the location of the damage', async (t) => {
  const folder = scratchFolder(t);
  await twoSegments(folder);
  const [first = ''] = segmentFiles(folder);
  const bytes = readFileSync(first);
  bytes[bytes.length - 10]! ^= 1;
  writeFileSync(first, bytes);
  await assert.rejects(
    copyLog(folder, join(scratchFolder(t), 'copy')),
    (fault) => fault instanceof LogDamagedError && fault.file === first,
  );
});
