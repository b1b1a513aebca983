import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { copyLog } from '../../src/event-log/copy-log.ts';
import { nodeFileSystem } from '../../src/event-log/log-files.ts';
import { segmentHeaderLength } from '../../src/event-log/log-format.ts';
import { verifyLog } from '../../src/event-log/verify-log.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import {
  appendOneByOne,
  appendTogether,
  damageByte,
  openLog,
  plain,
  recordAt,
  recordsUpTo,
  recoveredRecords,
  removeEndMark,
  segmentFiles,
  writeLog,
} from './log-fixture.ts';

const threeSegments = (folder: string) => writeLog(folder, [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]);

describe('copyLog', () => {
  const copyTarget = (t: TestContext) => join(temporaryFolder(t), 'copy');
  const segmentNames = (folder: string) => segmentFiles(folder).map((file) => basename(file));

  test('copies every record and segment, but not the bytes of an incomplete record', async (t) => {
    const [folder, target] = [temporaryFolder(t), copyTarget(t)];
    const last = (await threeSegments(folder)).at(-1)!;
    removeEndMark(folder);
    const { size } = statSync(last);
    appendFileSync(last, readFileSync(last).subarray(0, 20));
    const copied = await copyLog(folder, target);
    assert.deepEqual([copied.records, copied.tornBytes], [12, 0]);
    assert.deepEqual(segmentNames(target), segmentNames(folder));
    assert.equal(statSync(segmentFiles(target).at(-1)!).size, size);
    assert.deepEqual(plain(await recoveredRecords(target)), plain(recordsUpTo(12)));
  });

  test('copyLog omits the preallocated bytes of an open log, and marks the copy as complete', async (t) => {
    const [folder, target] = [temporaryFolder(t), copyTarget(t)];
    const log = await openLog(folder);
    await appendOneByOne(log, 5);
    const { records, bytes } = await copyLog(folder, target);
    const [file] = segmentFiles(target);
    const { size } = statSync(file!);
    assert.deepEqual([records, bytes], [5, size + segmentHeaderLength]);
    truncateSync(file!, size - 1);
    assert.equal((await verifyLog(nodeFileSystem, target)).damage?.file, file);
  });

  test('does not copy a damaged log, and reports the location of the damage', async (t) => {
    const folder = temporaryFolder(t);
    const [first] = await threeSegments(folder);
    damageByte(first!, statSync(first!).size - 10);
    await assert.rejects(copyLog(folder, copyTarget(t)), { name: 'LogDamagedError', file: first });
  });

  /** Copies a log of three segments, changes the log by `change`, and copies it again with the first copy as the base. */
  async function copyTwice(t: TestContext, change: (folder: string, base: string) => Promise<unknown> | unknown) {
    const [folder, base, target] = [temporaryFolder(t), copyTarget(t), copyTarget(t)];
    await threeSegments(folder);
    await copyLog(folder, base);
    const before = segmentFiles(base).map((file) => readFileSync(file));
    await change(folder, base);
    const copied = await copyLog(folder, target, { base });
    const isLinked = (name: string) =>
      statSync(join(target, name)).ino === statSync(join(base, name), { throwIfNoEntry: false })?.ino;
    return { copied, target, base, before, linked: segmentNames(target).map(isLinked) };
  }

  test('links the complete segments that an earlier copy has, and does not change the earlier copy', async (t) => {
    const { copied, target, base, before, linked } = await copyTwice(t, async (folder) => {
      const log = await openLog(folder);
      await appendOneByOne(log, 3);
      await log.close();
    });
    assert.deepEqual([linked, copied.records, copied.position], [[true, true, true, false], 15, 15]);
    assert.deepEqual(plain(await recoveredRecords(target)), plain(recordsUpTo(15)));
    assert.deepEqual(
      segmentFiles(base).map((file) => readFileSync(file)),
      before,
    );
  });

  test('copies a segment that the earlier copy has only up to its record at that time', async (t) => {
    const [folder, base, target] = [temporaryFolder(t), copyTarget(t), copyTarget(t)];
    const log = await openLog(folder);
    await appendOneByOne(log, 4);
    await copyLog(folder, base);
    await Promise.all(appendTogether(log, 5));
    await log.close();
    assert.equal((await copyLog(folder, target, { base })).records, 9);
    assert.deepEqual(plain(await recoveredRecords(target)), plain(recordsUpTo(9)));
    assert.deepEqual(plain(await recoveredRecords(base)), plain(recordsUpTo(4)));
  });

  for (const [what, change, expected] of [
    ['is missing', (base) => rmSync(base, { recursive: true }), [false, false, false]],
    ['is shorter', (base) => truncateSync(segmentFiles(base)[0]!, 50), [false, true, true]],
    ['lacks the next segment', (base) => rmSync(segmentFiles(base)[1]!), [false, false, true]],
    ['has a damaged header', (base) => damageByte(segmentFiles(base)[1]!, 20), [false, false, true]],
  ] as readonly (readonly [string, (base: string) => void, boolean[]])[]) {
    test(`copies a segment if the earlier copy ${what}`, async (t) => {
      const { target, linked } = await copyTwice(t, (_, base) => change(base));
      assert.deepEqual(linked, expected);
      assert.deepEqual(plain(await recoveredRecords(target)), plain(recordsUpTo(12)));
    });
  }

  test('copies every segment if the earlier copy is of another log with segments of the same names and sizes', async (t) => {
    const { target, linked } = await copyTwice(t, async (_, base) => {
      rmSync(base, { recursive: true });
      for (const last of [4, 8, 12]) {
        const log = await openLog(base);
        for (let position = log.lastAppendedPosition + 1; position <= last; position++) {
          const [kind, wallMs, sub, tag, ...rest] = recordAt(position);
          await log.append([kind, wallMs, sub, tag.toUpperCase(), ...rest])!.durable;
        }
        await log.close();
      }
    });
    assert.deepEqual(linked, [false, false, false]);
    assert.deepEqual(plain(await recoveredRecords(target)), plain(recordsUpTo(12)));
  });
});
