import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type LogFiles, nodeFileSystem } from '../../src/event-log/log-files.ts';
import { encodeSegmentHeader, segmentFileName, segmentHeaderLength } from '../../src/event-log/log-format.ts';
import { recoverLog } from '../../src/event-log/log-recovery.ts';
import { LogRewrittenError, LogScanner } from '../../src/event-log/log-scanner.ts';
import { LogDamagedError } from '../../src/event-log/segment-reader.ts';
import { verifyLog } from '../../src/event-log/verify-log.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { appendOneByOne, openTestLog, plain, recordEnds, recordsUpTo, removeEndMark, writeLog } from './log-fixture.ts';

const threeSegments = (folder: string) => writeLog(folder, [1, 3], [1, 1, 1, 1], [2, 2]);

describe('verifyLog', () => {
  test('counts the records and bytes of an undamaged log', async (t) => {
    const folder = temporaryFolder(t);
    await threeSegments(folder);
    const records: unknown[] = [];
    let bytesRead = 0;
    const { crc, ...verification } = await verifyLog(nodeFileSystem, folder, {
      onRecord: (position, record) => assert.equal(records.push(record), position),
      onBytesRead: (bytes) => {
        bytesRead += bytes;
      },
    });
    assert.deepEqual(plain(records), plain(recordsUpTo(12)));
    assert.equal(crc, (await recoverLog(nodeFileSystem, folder, undefined)).cursor.crc);
    const bytes = readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
    const end = { file: join(folder, segmentFileName(13)), offset: segmentHeaderLength };
    const counts = { segments: 4, bytes, records: 12, position: 12 };
    assert.deepEqual(verification, { folder, ...counts, end, tornBytes: 0, damage: null });
    assert.equal(bytesRead, bytes);
  });

  test('reports a folder without segments as a log without records', async (t) => {
    const { segments, records, end, damage } = await verifyLog(nodeFileSystem, temporaryFolder(t));
    assert.deepEqual([segments, records, end, damage], [0, 0, null, null]);
  });

  test('verifyLog reports the same damage as openLog, and changes no file', async (t) => {
    const folder = temporaryFolder(t);
    for (const file of await threeSegments(folder)) {
      const original = readFileSync(file);
      for (let at = 0; at < original.length; at += 3) {
        const damaged = Buffer.from(original);
        damaged[at]! ^= 0x55;
        writeFileSync(file, damaged);
        const { damage, tornBytes } = await verifyLog(nodeFileSystem, folder);
        assert.ok(readFileSync(file).equals(damaged));
        let openError: unknown = null;
        try {
          const { removedTail } = await recoverLog(nodeFileSystem, folder, () => {});
          assert.equal(tornBytes, removedTail?.bytes ?? 0);
        } catch (error) {
          openError = error;
        }
        assert.ok(openError === null || openError instanceof LogDamagedError);
        assert.equal(damage?.message, openError?.message, `byte ${at}`);
      }
      writeFileSync(file, original);
    }
  });

  test('verifies a log while records are appended', async (t) => {
    const { folder, log } = await openTestLog(t, { segmentBytesMax: 900 });
    for (let round = 0; round < 40; round++) {
      await appendOneByOne(log, 1);
      const pending = log.append([1, 1, new Uint8Array(32), 'a tag', 1, 0, null])!;
      const { damage, position } = await verifyLog(nodeFileSystem, folder);
      assert.equal(damage, null);
      assert.ok(position >= log.durablePosition);
      await pending.durable;
    }
  });

  test('an interrupted verification stops before the end of the log', async (t) => {
    const { folder, log } = await openTestLog(t);
    for (let i = 0; i < 40; i++) log.appendWithoutWaiting([1, 1, new Uint8Array(32), 'x'.repeat(60_000), 1, 0, null]);
    await log.close();
    const stop = new AbortController();
    let seen = 0;
    const onRecord = () => {
      seen++;
      stop.abort(new Error('stopped'));
    };
    await assert.rejects(verifyLog(nodeFileSystem, folder, { onRecord, signal: stop.signal }), /^Error: stopped$/);
    assert.ok(seen > 0 && seen < 40, `${seen} records`);
  });

  test('accepts a record that the writer completes during the verification', async (t) => {
    const folder = temporaryFolder(t);
    const [file] = await writeLog(folder, [1, 1, 1]);
    removeEndMark(folder);
    const complete = readFileSync(file!);
    const offset = recordEnds(file!)[0]!;
    // The second record is missing, but the third record proves that it was synced.
    const incomplete = Buffer.from(complete).fill(0, offset, offset + 20);
    writeFileSync(file!, incomplete);
    const { damage } = await verifyLog(nodeFileSystem, folder);
    assert.deepEqual([damage?.file, damage?.offset], [file, offset]);

    let reads = 0;
    const files: LogFiles = {
      ...nodeFileSystem,
      openForReading(path) {
        const opened = nodeFileSystem.openForReading(path);
        const read: typeof opened.read = (target, position) => {
          const count = opened.read(target, position);
          if (++reads === 2) writeFileSync(path, complete);
          return count;
        };
        return { size: () => opened.size(), read, close: () => opened.close() };
      },
    };
    const { damage: none, records } = await verifyLog(files, folder);
    assert.deepEqual([none, records], [null, 3]);
    assert.ok(reads > 2);
  });

  test('throws LogRewrittenError if a new segment starts at a record that the scanner has already read', async (t) => {
    const { folder, log } = await openTestLog(t);
    await appendOneByOne(log, 3);
    const scanner = new LogScanner(nodeFileSystem, folder, { decode: true });
    for (let i = 0; i < 3; i++) scanner.nextRecord();
    writeFileSync(join(folder, segmentFileName(3)), encodeSegmentHeader({ firstSequence: 3, previousCrc: 0 }));
    assert.throws(() => scanner.nextRecord(), LogRewrittenError);
    scanner.close();
  });
});
