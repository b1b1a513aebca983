import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { bounds } from '../../src/bounds.ts';
import { BookedRevenueSnapshotWriter, readSnapshot } from '../../src/budgets/booked-revenue-snapshot.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { AvailabilityBench, catalogWithOffers } from './availability-bench.ts';

const noon = Date.UTC(2026, 4, 20, 12);

function openBench(): AvailabilityBench {
  const bench = new AvailabilityBench(catalogWithOffers({ a: { daily_cap: 5 } }), noon);
  bench.clickOnce('a');
  return bench;
}

const failOn = (error: unknown) => assert.fail(String(error));

const ledgerOf = (bench: AvailabilityBench, isDurable: () => boolean = () => true) => ({
  get durablePosition() {
    return isDurable() ? bench.ledger.length : 0;
  },
  healthy: true,
});

test('closing writes a snapshot of the last records, in a file that only the owner can read', async (t) => {
  const [file, bench] = [join(temporaryFolder(t), 'snapshot'), openBench()];
  const options = { file, clock: new ManualClock(), bookings: bench.bookings, onError: failOn };
  const writer = new BookedRevenueSnapshotWriter({ ...options, ledger: ledgerOf(bench) });
  bench.clickOnce('a');
  await writer.close();
  const { snapshot, problem } = readSnapshot(file);
  assert.equal(problem, null);
  assert.deepEqual(snapshot, bench.bookings.takeSnapshot(noon));
  assert.equal(snapshot!.lastRecord.position, 4);
  assert.equal(statSync(file).mode & 0o077, 0);
});

test('writes a snapshot periodically, once its records are durable', async (t) => {
  const folder = temporaryFolder(t);
  const [file, bench] = [join(folder, 'snapshot'), openBench()];
  let isDurable = false;
  const options = { file, clock: new ManualClock(), bookings: bench.bookings, onError: failOn };
  const writer = new BookedRevenueSnapshotWriter({
    ...options,
    ledger: ledgerOf(bench, () => isDurable),
    intervalMs: 1,
  });
  await pause(50);
  assert.deepEqual(readdirSync(folder), []);
  isDurable = true;
  while (readdirSync(folder).join() !== 'snapshot') await pause(1);
  assert.equal(readSnapshot(file).snapshot!.lastRecord.position, 2);
  await writer.close();
});

test('writes no snapshot of records that the ledger lost', async (t) => {
  const folder = temporaryFolder(t);
  const bench = openBench();
  const writer = new BookedRevenueSnapshotWriter({
    file: join(folder, 'snapshot'),
    clock: new ManualClock(),
    bookings: bench.bookings,
    onError: failOn,
    ledger: ledgerOf(bench, () => false),
  });
  await writer.close();
  assert.deepEqual(readdirSync(folder), []);
});

test('reports a write error', async (t) => {
  const bench = openBench();
  const errors: unknown[] = [];
  const writer = new BookedRevenueSnapshotWriter({
    file: join(temporaryFolder(t), 'missing', 'snapshot'),
    clock: new ManualClock(),
    bookings: bench.bookings,
    ledger: ledgerOf(bench),
    onError: (error: unknown) => errors.push(error),
  });
  await writer.close();
  assert.equal((errors[0] as NodeJS.ErrnoException).code, 'ENOENT');
});

test('rejects a snapshot file with any changed byte, a truncated file and an unreadable file', async (t) => {
  const [file, bench] = [join(temporaryFolder(t), 'snapshot'), openBench()];
  const options = { file, clock: new ManualClock(), bookings: bench.bookings, onError: failOn };
  assert.deepEqual(readSnapshot(file), { snapshot: null, problem: null });
  await new BookedRevenueSnapshotWriter({ ...options, ledger: ledgerOf(bench) }).close();
  const bytes = readFileSync(file);
  for (let at = 0; at < bytes.length; at += 3) {
    const changed = Buffer.from(bytes);
    changed[at]! ^= 1;
    writeFileSync(file, changed);
    assert.deepEqual(readSnapshot(file), { snapshot: null, problem: 'damaged' }, `byte ${at}`);
    writeFileSync(file, bytes.subarray(0, at));
    assert.deepEqual(readSnapshot(file), { snapshot: null, problem: 'damaged' });
  }
  writeFileSync(file, Buffer.alloc(bounds.bookedRevenueSnapshotBytesMax + 1));
  assert.deepEqual(readSnapshot(file), { snapshot: null, problem: 'too large' });
  assert.deepEqual(readSnapshot(`${file}/below`), { snapshot: null, problem: 'unreadable: ENOTDIR' });
});
