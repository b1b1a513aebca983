import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LedgerSubscriber } from '../../src/ledger/ledger.ts';
import { openLedger, readLedgerSince } from '../../src/ledger/ledger.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';
import { openLog } from '../event-log/log-fixture.ts';
import {
  type ClickDecision,
  offerClickedRecord,
  offersViewedRecord,
  sessionCreatedRecord,
  subIdBytes,
} from '../support/ledger-records.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const sub = subIdBytes({ createdMs: 1_000, serial: 1 });

class RecordingSubscriber implements LedgerSubscriber {
  readonly replayStartTimeMs: number;
  readonly records: LedgerRecord[] = [];

  constructor(replaySinceMs = 0) {
    this.replayStartTimeMs = replaySinceMs;
  }

  applyLedgerRecord(record: LedgerRecord): void {
    // The bytes of the record are valid only during the call.
    this.records.push(record.with(2, sub) as unknown as LedgerRecord);
  }

  get kinds(): number[] {
    return this.records.map(([kind]) => kind);
  }
}

/** Opens a ledger and returns the records that recoveries receive. */
async function readRecords(folder: string): Promise<LedgerRecord[]> {
  const recovery = new RecordingSubscriber();
  const ledger = await openLedger({ folder, durability: 'fsync', subscribers: [], recoveries: [recovery] });
  await ledger.close();
  return recovery.records;
}

async function writeRecords(folder: string, ...records: readonly unknown[]): Promise<void> {
  const log = await openLog(folder);
  for (const record of records) log.appendWithoutWaiting(record as LedgerRecord);
  await log.close();
}

test('openLedger passes stored records to recoveries and subscribers, and new records only to subscribers', async (t) => {
  const folder = temporaryFolder(t);
  await writeRecords(folder, sessionCreatedRecord(sub), offersViewedRecord(sub, ['a']));
  const [subscriber, recovery] = [new RecordingSubscriber(), new RecordingSubscriber()];
  const ledger = await openLedger({ folder, durability: 'fsync', subscribers: [subscriber], recoveries: [recovery] });
  assert.deepEqual(subscriber.kinds, [1, 2]);
  ledger.append(offerClickedRecord(sub, 'a'));
  assert.deepEqual(subscriber.kinds, [1, 2, 3]);
  ledger.appendWithoutWaiting(offersViewedRecord(sub, ['b']));
  assert.deepEqual(subscriber.kinds, [1, 2, 3, 2]);
  assert.deepEqual(recovery.kinds, [1, 2]);
  await ledger.close();
  assert.equal(ledger.appendWithoutWaiting(offersViewedRecord(sub, ['c'])), null);
  assert.deepEqual(subscriber.kinds, [1, 2, 3, 2]);
});

test('skips values in the log that are not ledger records', async (t) => {
  const folder = temporaryFolder(t);
  const click = offerClickedRecord(sub, 'a');
  await writeRecords(
    folder,
    [1],
    [99, 5, sub],
    click.with(2, sub.subarray(1)),
    click.with(1, -1),
    click.with(6, 'x'),
    click,
  );
  assert.deepEqual(await readRecords(folder), [click]);
});

test('passes the record of a click to subscribers alike when it is new and when it is read, with and without a decision', async (t) => {
  const decisions: readonly ClickDecision[] = [
    [],
    [true],
    [true, null],
    [null, null],
    [false, 1, false],
    [true, null, true],
  ];
  const clicks = decisions.flatMap((decision) => [
    offerClickedRecord(sub, 'a', { decision }),
    ...(decision.length === 1 ? [] : [offerClickedRecord(sub, 'a', { decision, payoutMicros: 85_000_000 })]),
  ]);
  const invalid = [...clicks[1]!.slice(0, 10), -1];
  const folder = temporaryFolder(t);
  await writeRecords(folder, ...clicks, invalid);
  assert.deepEqual(await readRecords(folder), clicks);
});

test('reads a session with an unknown device class from a later release', async (t) => {
  const folder = temporaryFolder(t);
  await writeRecords(folder, sessionCreatedRecord(sub).with(5, 9));
  assert.equal((await readRecords(folder))[0]![5], 0);
});

test('reads sessions with and without a unit and a mark, and skips sessions with an invalid one', async (t) => {
  const [key, payload, unit] = [1, 2, 3].map((byte) => new Uint8Array(16).fill(byte));
  const session = sessionCreatedRecord(sub);
  const valid = [
    session,
    [...session, key, payload],
    [...session, key, payload, unit],
    [...session, undefined, undefined, unit],
    [...session, key, payload, unit, true],
    [...session, undefined, undefined, unit, undefined, 'item of a later release'],
  ];
  const withoutUnit = [...session, undefined, undefined, undefined, undefined, 'item of a later release'];
  const invalid = [
    ...[new Uint8Array(15), new Uint8Array(17), 'text', 5, [unit]].map((value) => [value]),
    ...['true', 1, [true]].map((value) => [unit, value]),
  ].map((items) => [...session, undefined, undefined, ...items]);
  const folder = temporaryFolder(t);
  await writeRecords(folder, ...valid, ...invalid, withoutUnit);
  const plain = (records: readonly (readonly unknown[])[]) =>
    records.map((record) => record.map((item) => (item instanceof Uint8Array ? [...item] : item)));
  assert.deepEqual(plain(await readRecords(folder)), plain([...valid, withoutUnit]));
});

test('openLedger skips segments that are older than the replay start times of all subscribers', async (t) => {
  const folder = temporaryFolder(t);
  const laterMs = 1_000_000;
  await writeRecords(folder, sessionCreatedRecord(sub));
  await writeRecords(folder, offersViewedRecord(sub, ['a'], laterMs));
  const [idle, recovery] = [new RecordingSubscriber(Number.POSITIVE_INFINITY), new RecordingSubscriber(laterMs + 1)];
  const ledger = await openLedger({ folder, durability: 'fsync', subscribers: [idle], recoveries: [recovery] });
  assert.deepEqual(recovery.kinds, [2]);
  const kinds: number[] = [];
  await readLedgerSince(folder, ledger, 0, ([kind]) => kinds.push(kind));
  assert.deepEqual(kinds, [1, 2]);
  await ledger.close();
});
