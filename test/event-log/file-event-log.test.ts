import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { segmentHeaderLength } from '../../src/event-log/log-format.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import {
  appendOneByOne,
  appendTogether,
  openLog,
  openTestLog,
  plain,
  recordAt,
  recordsUpTo,
  recoveredRecords,
  segmentFiles,
  upTo,
} from './log-fixture.ts';

test('reads every record with the values that were appended', async (t) => {
  const text = fc.string({ unit: 'binary', maxLength: 40 }).map((value) => value.toWellFormed());
  const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
  const offerIds = fc.array(text, { maxLength: 20 });
  const metadata = fc.option(text);
  const record: fc.Arbitrary<LedgerRecord> = fc.oneof(
    fc.tuple(fc.constant(1 as const), fc.nat(2 ** 43), bytes32, text, fc.nat(), fc.constant(2 as const), metadata),
    fc.tuple(fc.constant(2 as const), fc.nat(2 ** 43), bytes32, text, offerIds),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(record, { maxLength: 30 }), async (records) => {
      const folder = temporaryFolder(t);
      const log = await openLog(folder);
      await Promise.all(records.map((item) => log.append(item)!.durable));
      await log.close();
      assert.deepEqual(plain(await recoveredRecords(folder)), plain(records));
    }),
    { numRuns: 20 },
  );
});

test('append copies the record before it returns', async (t) => {
  const { folder, log } = await openTestLog(t);
  const sub = new Uint8Array(32).fill(7);
  const appended = log.append([1, 5, sub, 'tag', 1, 0, null])!;
  sub.fill(0);
  await appended.durable;
  await log.close();
  const [record] = await recoveredRecords(folder);
  assert.deepEqual(Buffer.from((record as Uint8Array[])[2]!), Buffer.alloc(32, 7));
});

test('records that are appended in one turn of the event loop share one promise and one synced write', async (t) => {
  const { files, log } = await openTestLog(t);
  await appendOneByOne(log, 1);
  files.steps.length = 0;
  const promises = appendTogether(log, 50);
  assert.equal(new Set(promises).size, 1);
  await promises[0];
  assert.deepEqual(files.steps, ['store']);
});

test('the log syncs and renames a new segment file, and syncs the folder, before it writes the first record', async (t) => {
  const { files, log } = await openTestLog(t);
  await appendOneByOne(log, 1);
  const [header, reserve, group] = ['write', 'write', 'write'];
  assert.deepEqual(files.steps, [header, 'datasync', 'rename', 'syncFolder', reserve, group, 'datasync']);
});

test('reports the number of records and the number of bytes of each write', async (t) => {
  const groups: (readonly [records: number, bytes: number])[] = [];
  const { folder, log } = await openTestLog(t, {
    onGroupStored: (records, bytes, elapsedUs) => {
      assert.ok(Number.isInteger(elapsedUs) && elapsedUs > 0);
      groups.push([records, bytes]);
    },
  });
  await Promise.all(appendTogether(log, 3));
  await log.append(recordAt(4))!.durable;
  await log.close();
  assert.deepEqual(
    groups.map(([records]) => records),
    [3, 1],
  );
  const bytes = groups.reduce((sum, [, size]) => sum + size, segmentHeaderLength);
  assert.equal(statSync(segmentFiles(folder)[0]!).size, bytes);
});

test('records that are appended during a sync are written together in the next write', async (t) => {
  const { files, log } = await openTestLog(t);
  await appendOneByOne(log, 1);
  const first = log.append(recordAt(2))!;
  await new Promise(setImmediate);
  files.steps.length = 0;
  const second = appendTogether(log, 20);
  await first.durable;
  assert.equal(log.durablePosition, 2);
  await second[0];
  assert.equal(log.durablePosition, 22);
  assert.deepEqual(files.steps, ['store', 'store']);
});

test('append promises resolve in order, and the durable position never decreases', async (t) => {
  const { log } = await openTestLog(t);
  const durable: number[] = [];
  const resolved: number[] = [];
  log.setDurabilityListener((position) => {
    assert.equal(position, log.durablePosition);
    durable.push(position);
  });
  const all: Promise<unknown>[] = [];
  for (let position = 1; position <= 200; position++) {
    all.push(log.append(recordAt(position))!.durable.then(() => resolved.push(position)));
    if (position % 9 === 0) await new Promise(setImmediate);
  }
  await Promise.all(all);
  assert.deepEqual(resolved, upTo(200));
  assert.ok(durable.every((position, i) => i === 0 || position > durable[i - 1]!));
  assert.equal(durable.at(-1), 200);
});

test('append calls onAppended and then returns the position of the record', async (t) => {
  const appended: LedgerRecord[] = [];
  const { log } = await openTestLog(t, { onAppended: (record) => appended.push(record), pendingBytesMax: 200 });
  const first = recordAt(1);
  assert.equal(log.append(first)!.position, 1);
  assert.equal(log.appendWithoutWaiting(recordAt(2)), 2);
  assert.equal(log.append(recordAt(3)), null);
  assert.equal(log.appendWithoutWaiting(recordAt(3)), null);
  assert.equal(appended.length, 2);
  assert.equal(appended[0], first);
});

test('close makes all records durable and rejects later appends', async (t) => {
  const { folder, log } = await openTestLog(t);
  const appended = appendTogether(log, 3);
  const closed = log.close();
  assert.equal(log.close(), closed);
  await closed;
  await Promise.all(appended);
  assert.equal(log.append(recordAt(4)), null);
  assert.equal(log.appendWithoutWaiting(recordAt(4)), null);
  assert.equal((await recoveredRecords(folder)).length, 3);
});

test('rejects records above the limit of pending bytes until the pending records are durable', async (t) => {
  const { folder, log } = await openTestLog(t, { pendingBytesMax: 1_000 });
  while (log.appendWithoutWaiting(recordAt(log.lastAppendedPosition + 1)) !== null);
  const full = log.lastAppendedPosition;
  assert.ok(full > 5 && full < 20);
  assert.equal(log.append(recordAt(full + 1)), null);
  assert.equal(log.lastAppendedPosition, full);
  while (log.durablePosition < full) await new Promise(setImmediate);
  await appendOneByOne(log, 1);
  assert.equal(log.healthy, true);
  await log.close();
  assert.deepEqual(plain(await recoveredRecords(folder)), plain(recordsUpTo(full + 1)));
});

test('throws for a record above the size limit, and assigns no position to the record', async (t) => {
  const { log } = await openTestLog(t);
  assert.throws(() => log.appendWithoutWaiting([1, 5, new Uint8Array(32), 'x'.repeat(70_000), 1, 0, null]), RangeError);
  assert.equal(log.lastAppendedPosition, 0);
});

test('starts a new segment when the current one is full; a record group larger than a segment gets its own segment', async (t) => {
  const { folder, log } = await openTestLog(t, { segmentBytesMax: 500 });
  await Promise.all(appendTogether(log, 30));
  await appendOneByOne(log, 40);
  await log.close();
  const [large, ...others] = segmentFiles(folder);
  assert.equal(basename(others[0]!), '0000000000000031.log');
  assert.ok(others.length > 5 && statSync(large!).size > 500);
  for (const file of others) assert.ok(statSync(file).size <= 500);
  assert.deepEqual(plain(await recoveredRecords(folder)), plain(recordsUpTo(70)));
});

test('creates no segment file if no record is appended', async (t) => {
  const folder = temporaryFolder(t);
  for (let round = 0; round < 3; round++) await (await openLog(folder)).close();
  assert.deepEqual(segmentFiles(folder), []);
});

test('truncates the preallocated zeros when a segment is closed', async (t) => {
  const { folder, log } = await openTestLog(t);
  await appendOneByOne(log, 2);
  const [file] = segmentFiles(folder);
  const reserved = readFileSync(file!);
  await log.close();
  const closed = readFileSync(file!);
  assert.ok(closed.length < reserved.length && closed.length > segmentHeaderLength);
  assert.ok(reserved.subarray(0, closed.length).equals(closed));
  assert.ok(reserved.subarray(closed.length).every((byte) => byte === 0));
});

test('with durability "write", a record is durable as soon as it is written, even without a sync', async (t) => {
  const { folder, files, log } = await openTestLog(t, { durability: 'write' });
  await appendOneByOne(log, 1);
  files.steps.length = 0;
  await appendOneByOne(log, 3);
  assert.deepEqual(files.steps, ['write', 'write', 'write']);
  await log.close();
  assert.equal((await recoveredRecords(folder)).length, 4);
});
