import assert from 'node:assert/strict';
import fs, {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import { LogUnavailableError } from '../../src/event-log/event-log.ts';
import { FileJournal } from '../../src/journal/file-journal.ts';
import { SecretRing } from '../../src/secrets/secret-ring.ts';
import { TroubledLogFiles } from '../event-log/troubled-log-files.ts';
import { subOf } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { openTemporaryJournal, type TemporaryJournal } from '../support/temporary-logs.ts';

const ttlMs = 4 * 60 * 60 * 1000;

function subNumbered(serial: number): Buffer {
  return subOf({ createdMs: 1_790_000_000_000, serial });
}

function append({ journal }: TemporaryJournal, serial: number, changes: readonly number[] = [0, serial]) {
  return journal.append(subNumbered(serial), changes);
}

function epochs(temporary: TemporaryJournal): string[] {
  return readdirSync(temporary.folder).sort();
}

test('restores field changes in order after a restart', async (t) => {
  const temporary = await openTemporaryJournal(t);
  await append(temporary, 1, [0, 5_000, 3, -1]);
  await append(temporary, 2, []);
  await append(temporary, 1, [0, 6_000]);
  assert.deepEqual(await temporary.merges(), [
    { sub: subNumbered(1), changes: [0, 5_000, 3, -1] },
    { sub: subNumbered(2), changes: [] },
    { sub: subNumbered(1), changes: [0, 6_000] },
  ]);
});

test('restores all field changes once and in order over any restarts', async (t) => {
  const turns = fc.array(fc.oneof(fc.integer({ min: 1, max: 100 }), fc.constant('restart' as const)), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(turns, async (commands) => {
      const temporary = await openTemporaryJournal(t);
      let appended = 0;
      for (const command of commands) {
        if (command === 'restart') {
          await temporary.merges();
          continue;
        }
        // More than a batch holds in one turn, at times.
        await Promise.all(Array.from({ length: command }, () => append(temporary, ++appended)));
      }
      const kept = await temporary.merges();
      assert.deepEqual(
        kept.map(({ changes }) => changes[1]),
        Array.from({ length: appended }, (_, i) => i + 1),
      );
    }),
    { numRuns: 25 },
  );
});

test('keeps acknowledged changes when the process is killed', async (t) => {
  const temporary = await openTemporaryJournal(t, { durability: 'fsync' });
  const copies: string[] = [];
  t.after(() => {
    for (const copy of copies) rmSync(copy, { recursive: true });
  });
  for (let serial = 1; serial <= 5; serial++) {
    await append(temporary, serial);
    const copy = mkdtempSync(join(tmpdir(), 'journal-copy-'));
    cpSync(temporary.folder, copy, { recursive: true });
    copies.push(copy);
  }
  for (const [index, folder] of copies.entries()) {
    let merges = 0;
    const onFieldChanges = () => {
      merges++;
    };
    const journal = await FileJournal.open({ ...temporary.options, folder, onFieldChanges });
    await journal.close();
    assert.equal(merges, index + 1);
  }
});

test('the journal contains no sub_id and no field value in plaintext', async (t) => {
  const temporary = await openTemporaryJournal(t);
  const sub = subNumbered(1);
  await temporary.journal.append(sub, [0, 0x0badcafe]);
  await temporary.journal.close();
  const bytes = epochs(temporary).flatMap((epoch) =>
    readdirSync(join(temporary.folder, epoch)).map((name) => readFileSync(join(temporary.folder, epoch, name))),
  );
  assert(bytes.length > 0);
  for (const file of bytes) {
    assert.equal(file.indexOf(sub.subarray(0, 12)), -1);
    assert.equal(file.indexOf(Buffer.from('0badcafe', 'hex')), -1);
  }
});

test('encrypts equal field changes differently in each run', async (t) => {
  const written: string[] = [];
  for (let run = 0; run < 2; run++) {
    const temporary = await openTemporaryJournal(t);
    await append(temporary, 1);
    await temporary.journal.close();
    const [epoch] = epochs(temporary);
    const [segment] = readdirSync(join(temporary.folder, epoch!));
    written.push(
      readFileSync(join(temporary.folder, epoch!, segment!))
        .subarray(-40)
        .toString('hex'),
    );
  }
  assert.notEqual(written[0], written[1]);
});

test('starts a new journal epoch after 15 minutes with changes', async (t) => {
  const clock = new ManualClock();
  const temporary = await openTemporaryJournal(t, { clock });
  clock.advance(bounds.journalEpochDurationMs);
  await temporary.journal.maintain();
  assert.equal(epochs(temporary).length, 1);
  await append(temporary, 1);
  await temporary.journal.maintain();
  assert.equal(epochs(temporary).length, 2);
  await append(temporary, 2);
  clock.advance(bounds.journalEpochDurationMs - 1);
  await temporary.journal.maintain();
  assert.equal(epochs(temporary).length, 2);
  assert.deepEqual(
    (await temporary.merges()).map(({ changes }) => changes),
    [
      [0, 1],
      [0, 2],
    ],
  );
});

test('keeps the order of field changes that arrive during the start of a new epoch', async (t) => {
  const clock = new ManualClock();
  const temporary = await openTemporaryJournal(t, { clock });
  await append(temporary, 1);
  clock.advance(bounds.journalEpochDurationMs);
  const pending: Promise<void>[] = [];
  const tending = temporary.journal.maintain();
  for (let serial = 2; serial < 40; serial++) {
    pending.push(append(temporary, serial));
    if (serial % 5 === 0) await new Promise(setImmediate);
  }
  await Promise.all([tending, ...pending]);
  assert.equal(epochs(temporary).length, 2);
  const kept = await temporary.merges();
  assert.deepEqual(
    kept.map(({ changes }) => changes[1]),
    Array.from({ length: 39 }, (_, i) => i + 1),
  );
});

test('settles field changes in stored order during the start of a new epoch on a slow disk', async (t) => {
  const clock = new ManualClock();
  const files = new TroubledLogFiles();
  const slow = Promise.withResolvers<void>();
  let isSlow = false;
  const create = files.create.bind(files);
  files.create = async (path) => {
    const file = await create(path);
    const slowed = epochs(temporary).length === 1;
    return {
      ...file,
      write: async (...part) => {
        if (slowed && isSlow) await slow.promise;
        await file.write(...part);
      },
    };
  };
  const temporary = await openTemporaryJournal(t, { clock, files });
  await append(temporary, 1);
  isSlow = true;
  const settled: number[] = [];
  const merges = [append(temporary, 2).then(() => settled.push(2))];
  await new Promise(setImmediate);
  clock.advance(bounds.journalEpochDurationMs);
  const tending = temporary.journal.maintain();
  // More than a batch holds, in many turns.
  const serials = Array.from({ length: 100 }, (_, i) => i + 3);
  for (const serial of serials) {
    merges.push(append(temporary, serial).then(() => settled.push(serial)));
    await new Promise(setImmediate);
  }
  slow.resolve();
  await Promise.all([tending, ...merges]);
  assert.equal(epochs(temporary).length, 2);
  assert.deepEqual(settled, [2, ...serials]);
  const kept = await temporary.merges();
  assert.deepEqual(
    kept.map(({ changes }) => changes[1]),
    [1, 2, ...serials],
  );
});

test('keeps the changes of an epoch that cannot be written, and writes them later', async (t) => {
  const clock = new ManualClock();
  const temporary = await openTemporaryJournal(t, { clock });
  await append(temporary, 1);
  temporary.breakFiles();
  await assert.rejects(append(temporary, 2), (fault) => fault instanceof LogUnavailableError && fault.isAppended);
  clock.advance(bounds.journalEpochDurationMs);
  await temporary.journal.maintain();
  assert.equal(epochs(temporary).length, 1);
  temporary.repair();
  while (!temporary.journal.healthy) await new Promise(setImmediate);
  await temporary.journal.maintain();
  assert.equal(epochs(temporary).length, 2);
  await append(temporary, 3);
  assert.deepEqual(
    (await temporary.merges()).map(({ changes }) => changes[1]),
    [1, 2, 3],
  );
});

test('deletes a journal epoch as soon as all of its sessions have expired', async (t) => {
  const clock = new ManualClock();
  const temporary = await openTemporaryJournal(t, { clock });
  const [first] = epochs(temporary);
  clock.advance(bounds.journalEpochDurationMs);
  await append(temporary, 1);
  await temporary.journal.maintain();
  clock.advance(ttlMs - 1);
  await temporary.journal.maintain();
  assert(epochs(temporary).includes(first!));
  clock.advance(1);
  await temporary.journal.maintain();
  assert(!epochs(temporary).includes(first!));
});

test('starts and deletes journal epochs without synchronous file system calls', async (t) => {
  const clock = new ManualClock();
  const troubles: unknown[] = [];
  const temporary = await openTemporaryJournal(t, { clock, onIncident: (trouble) => troubles.push(trouble) });
  const [first] = epochs(temporary);
  await append(temporary, 1);
  clock.advance(bounds.journalEpochDurationMs);
  await temporary.journal.maintain();
  clock.advance(ttlMs);
  await append(temporary, 2);
  const before = epochs(temporary);

  const isSynchronous = (name: string) => name.endsWith('Sync') && typeof fs[name as 'fsyncSync'] === 'function';
  const synchronous = Object.keys(fs).filter(isSynchronous) as 'fsyncSync'[];
  const mocks = synchronous.map((name) => t.mock.method(fs, name));
  syncBuiltinESMExports();
  await temporary.journal.maintain();
  await append(temporary, 3);
  const called = synchronous.filter((_, i) => mocks[i]!.mock.callCount() > 0);
  t.mock.restoreAll();
  syncBuiltinESMExports();

  assert.deepEqual([called, troubles], [[], []]);
  assert.equal(before[0], first);
  const after = epochs(temporary);
  assert.equal(after.length, 2);
  assert.deepEqual(after[0], before[1]);
});

test('retries a failed deletion of an epoch later, and reports the failure and the success', async (t) => {
  const clock = new ManualClock();
  const troubles: string[] = [];
  const temporary = await openTemporaryJournal(t, { clock, onIncident: ({ kind }) => troubles.push(kind) });
  const [first] = epochs(temporary);
  await append(temporary, 1);
  clock.advance(bounds.journalEpochDurationMs);
  await temporary.journal.maintain();
  clock.advance(ttlMs);
  const rm = t.mock.method(fs.promises, 'rm', () => Promise.reject(new Error('an i/o error')));
  syncBuiltinESMExports();
  await temporary.journal.maintain();
  rm.mock.restore();
  syncBuiltinESMExports();
  assert.deepEqual([rm.mock.callCount(), troubles], [1, ['maintenance-failed']]);
  for (let again = 0; again < 2; again++) await temporary.journal.maintain();
  assert.deepEqual(troubles, ['maintenance-failed', 'maintenance-recovered']);
  assert(!epochs(temporary).some((name) => name.startsWith(first!)));
});

test('reports a damaged last batch of a closed journal', async (t) => {
  const temporary = await openTemporaryJournal(t);
  await append(temporary, 1);
  await temporary.journal.close();
  const [epoch] = epochs(temporary);
  const segment = join(temporary.folder, epoch!, '0000000000000001.log');
  const bytes = readFileSync(segment);
  bytes[bytes.length - 1]! ^= 1;
  writeFileSync(segment, bytes);
  await assert.rejects(temporary.merges(), { name: 'LogDamagedError', file: segment });
  bytes[bytes.length - 1]! ^= 1;
  writeFileSync(segment, bytes);
});

test('deletes the copied tails of an epoch together with the epoch', async (t) => {
  const clock = new ManualClock();
  const temporary = await openTemporaryJournal(t, { clock });
  await append(temporary, 1);
  await temporary.journal.close();
  const [epoch] = epochs(temporary);
  rmSync(join(temporary.folder, epoch!, '0000000000000003.log'));
  appendFileSync(join(temporary.folder, epoch!, '0000000000000001.log'), 'torn');
  assert.equal((await temporary.merges()).length, 1);
  const cutTails = () => fs.globSync(join(temporary.folder, '**/*.from-*'));
  assert.equal(cutTails().length, 1);
  clock.advance(ttlMs);
  await temporary.merges();
  assert.deepEqual(cutTails(), []);
});

test('deletes expired and empty epochs at a restart', async (t) => {
  const clock = new ManualClock();
  const temporary = await openTemporaryJournal(t, { clock });
  for (let i = 0; i < 3; i++) await temporary.merges();
  assert.equal(epochs(temporary).length, 1);
  await append(temporary, 1);
  clock.advance(ttlMs);
  await temporary.merges();
  assert.equal(epochs(temporary).length, 1);
  assert.deepEqual(await temporary.merges(), []);
});

test('deletes a partly deleted epoch at a restart', async (t) => {
  const temporary = await openTemporaryJournal(t);
  await append(temporary, 1);
  const gone = join(temporary.folder, '0001700000000000.gone');
  mkdirSync(gone);
  writeFileSync(join(gone, '0000000000000002.log'), 'half an epoch');
  assert.equal((await temporary.merges()).length, 1);
  assert(!epochs(temporary).includes('0001700000000000.gone'));
});

test('keeps the order of field changes when the wall clock is set back', async (t) => {
  const clock = new ManualClock();
  const temporary = await openTemporaryJournal(t, { clock });
  await append(temporary, 1);
  clock.setWall(clock.wallMs() - 60_000);
  await temporary.merges();
  await append(temporary, 2);
  assert.deepEqual(
    (await temporary.merges()).map(({ changes }) => changes[1]),
    [1, 2],
  );
});

test('reuses the numbers of rejected journal batches', async (t) => {
  const temporary = await openTemporaryJournal(t);
  await append(temporary, 1);
  temporary.breakFiles();
  await assert.rejects(append(temporary, 2), LogUnavailableError);
  assert.equal(temporary.journal.healthy, false);
  for (let i = 0; i < 3; i++) {
    await assert.rejects(append(temporary, 3), (fault) => fault instanceof LogUnavailableError && !fault.isAppended);
  }
  temporary.repair();
  while (!temporary.journal.healthy) await new Promise(setImmediate);
  await append(temporary, 4);
  // The second was taken, and so it is there in the end.
  assert.deepEqual(
    (await temporary.merges()).map(({ changes }) => changes[1]),
    [1, 2, 4],
  );
});

test('opens a journal with rotated secrets, and reports a missing secret', async (t) => {
  const temporary = await openTemporaryJournal(t);
  await append(temporary, 1);
  const secret = { number: 1, bytes: temporary.options.secrets.newest.bytes };
  const other = { number: 2, bytes: Buffer.alloc(32, 2) };
  assert.equal((await temporary.merges({ secrets: new SecretRing([secret, other]) })).length, 1);
  await append(temporary, 2);
  await temporary.journal.close();
  await assert.rejects(temporary.merges({ secrets: new SecretRing([secret]) }), /LogDamaged|secret 2.*does not list/);
  const replaced = new SecretRing([{ number: 1, bytes: Buffer.alloc(32, 9) }, other]);
  await assert.rejects(temporary.merges({ secrets: replaced }), /cannot be decrypted/);
  assert.equal((await temporary.merges({ secrets: new SecretRing([secret, other]) })).length, 2);
});

test('close is idempotent, stores all queued changes and rejects later changes', async (t) => {
  const temporary = await openTemporaryJournal(t);
  const pending = append(temporary, 1);
  await Promise.all([temporary.journal.close(), temporary.journal.close()]);
  await pending;
  await assert.rejects(append(temporary, 2), LogUnavailableError);
  assert.equal((await temporary.merges()).length, 1);
});
