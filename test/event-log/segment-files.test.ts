import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { LogFiles } from '../../src/event-log/log-files.ts';
import { nodeFileSystem } from '../../src/event-log/log-files.ts';
import { formatTornBytesFileName, segmentFileName } from '../../src/event-log/log-format.ts';
import { LogReader } from '../../src/event-log/log-reader.ts';
import { LogRewrittenError, LogScanner } from '../../src/event-log/log-scanner.ts';
import { deleteSegmentsBefore } from '../../src/event-log/segment-files.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { appendOneByOne, openLog, openTestLog, recordAt } from './log-fixture.ts';

/** A closed log of six records, two in each segment, and its end mark. */
async function sixRecords(t: TestContext) {
  const { folder, log } = await openTestLog(t, { segmentBytesMax: 200 });
  await appendOneByOne(log, 6);
  await log.close();
  assert.deepEqual(firsts(folder), [1, 3, 5, 7]);
  return folder;
}

const firsts = (folder: string) =>
  readdirSync(folder)
    .sort()
    .map((name) => Number.parseInt(name, 10));

describe('deleteSegmentsBefore', () => {
  it('deletes each segment that ends before the given log position, except the newest segment', async (t) => {
    const folder = await sixRecords(t);
    for (const [before, dropped, left] of [
      [0, 0, [1, 3, 5, 7]],
      [2, 0, [1, 3, 5, 7]],
      [3, 1, [3, 5, 7]],
      [4, 0, [3, 5, 7]],
      [5_000, 2, [7]],
      [5_000, 0, [7]],
    ] as const) {
      assert.equal(await deleteSegmentsBefore(nodeFileSystem, folder, before), dropped);
      assert.deepEqual(firsts(folder), left);
    }
    assert.equal(await deleteSegmentsBefore(nodeFileSystem, temporaryFolder(t), 5_000), 0);
  });

  it('the remaining records keep their positions after segments are deleted', async (t) => {
    const folder = await sixRecords(t);
    writeFileSync(join(folder, 'somebody-elses.txt'), '');
    await deleteSegmentsBefore(nodeFileSystem, folder, 4);
    const seen: number[] = [];
    const log = await openLog(folder, { onRecord: (position) => seen.push(position) });
    await log.append(recordAt(7))!.durable;
    await log.close();
    assert.deepEqual([seen, log.durablePosition], [[3, 4, 5, 6], 7]);
    const reader = new LogReader(folder, null);
    const read: number[] = [];
    reader.readRecords(7, 100, (position) => read.push(position));
    reader.close();
    assert.deepEqual(read, [3, 4, 5, 6, 7]);
    assert.equal(readdirSync(folder).includes('somebody-elses.txt'), true);
  });

  it('syncs the deletion of a segment before deleting the next segment', async (t) => {
    const folder = await sixRecords(t);
    const steps: string[] = [];
    const files: LogFiles = {
      ...nodeFileSystem,
      remove: async (path) => void steps.push(`remove ${Number.parseInt(path.slice(folder.length + 1), 10)}`),
      syncFolder: async () => void steps.push('sync'),
    };
    await deleteSegmentsBefore(files, folder, 6);
    assert.deepEqual(steps, ['remove 1', 'sync', 'remove 3', 'sync']);
    const failing: LogFiles = { ...files, syncFolder: () => Promise.reject(new Error('it does not sync')) };
    steps.length = 0;
    await assert.rejects(deleteSegmentsBefore(failing, folder, 6), /it does not sync/);
    assert.deepEqual(steps, ['remove 1']);
  });

  it('deletes a segment and the files with copies of its incomplete records', async (t) => {
    const folder = await sixRecords(t);
    const cutTail = (first: number) => formatTornBytesFileName(segmentFileName(first), 90, 5);
    for (const first of [1, 5]) writeFileSync(join(folder, cutTail(first)), 'torn');
    await deleteSegmentsBefore(nodeFileSystem, folder, 3);
    assert.deepEqual(
      readdirSync(folder).filter((name) => !name.endsWith('.log')),
      [cutTail(5)],
    );
  });

  it('a reader of a deleted segment throws LogRewrittenError', async (t) => {
    const folder = await sixRecords(t);
    const walk = new LogScanner(nodeFileSystem, folder, { decode: true });
    await deleteSegmentsBefore(nodeFileSystem, folder, 5);
    assert.throws(() => walk.nextRecord(), LogRewrittenError);
    walk.close();
  });
});
