import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import fs, { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import { findFieldIndex } from '../../src/domain/field-vector.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import { LogUnavailableError } from '../../src/event-log/event-log.ts';
import type { FileJournalOptions } from '../../src/journal/file-journal.ts';
import { JournalCipher } from '../../src/journal/journal-format.ts';
import {
  createFieldChangeConverter,
  formatPocketFieldEncodings,
  getPocketFieldEncodings,
  parsePocketFieldEncodings,
} from '../../src/journal/journal-log-reader.ts';
import { SecretSet } from '../../src/secrets/secret-set.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { FailingLogFiles } from '../event-log/failing-log-files.ts';
import { equipmentLeases } from '../support/equipment-leases.ts';
import { subIdBytes } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { openTemporaryJournal, type TemporaryJournal } from '../support/temporary-logs.ts';

const ttlMs = 4 * 60 * 60 * 1000;

function subNumbered(serial: number): Buffer {
  return subIdBytes({ createdMs: 1_790_000_000_000, serial });
}

async function openWithClock(t: TestContext, options: Partial<FileJournalOptions> = {}) {
  const clock = new ManualClock();
  return { clock, temporary: await openTemporaryJournal(t, { clock, ...options }) };
}

function append({ journal }: TemporaryJournal, serial: number, changes: readonly number[] = [0, serial]) {
  return journal.append(subNumbered(serial), changes);
}

/** Reopens the journal. Returns the second number of each stored change, which `append` sets to the serial. */
async function restoredSerials(temporary: TemporaryJournal) {
  return (await temporary.merges()).map(({ changes }) => changes[1]);
}

const serialsUpTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1);

function journalLogs(temporary: TemporaryJournal): string[] {
  return readdirSync(temporary.folder).sort();
}

test('restores the largest number of field changes that one request can contain', async (t) => {
  const temporary = await openTemporaryJournal(t);
  const changes = Array.from({ length: 2 * bounds.fieldsMax }, (_, i) => i);
  await temporary.journal.append(subNumbered(1), changes);
  assert.deepEqual(await temporary.merges(), [{ sub: subNumbered(1), changes }]);
});

test('after any number of restarts, the journal restores every change of a session field once and in order', async (t) => {
  const changes = fc.array(fc.tuple(fc.nat(5), fc.integer({ min: -1, max: 9_000 })), { maxLength: 3 });
  const turns = fc.array(fc.oneof(fc.integer({ min: 1, max: 100 }), fc.constant('restart' as const)), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(turns, fc.array(changes, { minLength: 1 }), async (commands, changeLists) => {
      const temporary = await openTemporaryJournal(t);
      const expected: object[] = [];
      const appendNext = () => {
        const sub = subNumbered(expected.length % 7);
        const changes = changeLists[expected.length % changeLists.length]!.flat();
        expected.push({ sub, changes });
        return temporary.journal.append(sub, changes);
      };
      for (const command of commands) {
        if (command === 'restart') await temporary.merges();
        // One turn of the event loop may append more changes than fit into a batch.
        else await Promise.all(Array.from({ length: command }, appendNext));
      }
      assert.deepEqual(await temporary.merges(), expected);
    }),
    { numRuns: 10 },
  );
});

test('the journal contains no sub_id and no field value in plaintext', async (t) => {
  const temporary = await openTemporaryJournal(t);
  const sub = subNumbered(1);
  await temporary.journal.append(sub, [0, 0x0badcafe]);
  await temporary.journal.close();
  const bytes = journalLogs(temporary).flatMap((log) =>
    readdirSync(join(temporary.folder, log)).map((name) => readFileSync(join(temporary.folder, log, name))),
  );
  assert(bytes.length > 0);
  for (const file of bytes) {
    assert.equal(file.indexOf(sub.subarray(0, 12)), -1);
    assert.equal(file.indexOf(Buffer.from('0badcafe', 'hex')), -1);
  }
});

test('two journals encrypt equal field changes differently', async (t) => {
  const written: string[] = [];
  for (let run = 0; run < 2; run++) {
    const temporary = await openTemporaryJournal(t);
    await append(temporary, 1);
    await temporary.journal.close();
    const [log] = journalLogs(temporary);
    const [segment] = readdirSync(join(temporary.folder, log!));
    written.push(
      readFileSync(join(temporary.folder, log!, segment!))
        .subarray(-40)
        .toString('hex'),
    );
  }
  assert.notEqual(written[0], written[1]);
});

test('starts a new journal log after 15 minutes, but only if the current log contains changes', async (t) => {
  const { clock, temporary } = await openWithClock(t);
  clock.advance(bounds.journalRotationIntervalMs);
  await temporary.journal.rotateAndDeleteLogs();
  assert.equal(journalLogs(temporary).length, 1);
  await append(temporary, 1);
  await temporary.journal.rotateAndDeleteLogs();
  assert.equal(journalLogs(temporary).length, 2);
  await append(temporary, 2);
  clock.advance(bounds.journalRotationIntervalMs - 1);
  await temporary.journal.rotateAndDeleteLogs();
  assert.equal(journalLogs(temporary).length, 2);
  assert.deepEqual(await restoredSerials(temporary), [1, 2]);
});

test('stores field changes in order while a new journal log starts on a slow disk', async (t) => {
  const clock = new ManualClock();
  const files = new FailingLogFiles();
  const slow = Promise.withResolvers<void>();
  let isSlow = false;
  const create = files.createFile.bind(files);
  files.createFile = async (path) => {
    const file = await create(path);
    const slowed = journalLogs(temporary).length === 1;
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
  clock.advance(bounds.journalRotationIntervalMs);
  const maintenance = temporary.journal.rotateAndDeleteLogs();
  // Appends more changes than fit into a batch, in many turns of the event loop.
  const serials = Array.from({ length: 100 }, (_, i) => i + 3);
  for (const serial of serials) {
    merges.push(append(temporary, serial).then(() => settled.push(serial)));
    await new Promise(setImmediate);
  }
  slow.resolve();
  await Promise.all([maintenance, ...merges]);
  assert.equal(journalLogs(temporary).length, 2);
  assert.deepEqual(settled, [2, ...serials]);
  assert.deepEqual(await restoredSerials(temporary), serialsUpTo(102));
});

test('if a write fails, the journal keeps the changes of that write, rejects later changes and starts no new log', async (t) => {
  const { clock, temporary } = await openWithClock(t);
  const assertRejected = (serial: number, isRecordAppended: boolean) =>
    assert.rejects(append(temporary, serial), (error) => {
      assert(error instanceof LogUnavailableError);
      assert.equal(error.durableLater !== null, isRecordAppended);
      return true;
    });
  await append(temporary, 1);
  temporary.breakFiles();
  await assertRejected(2, true);
  assert.equal(temporary.journal.healthy, false);
  for (let i = 0; i < 3; i++) await assertRejected(3, false);
  clock.advance(bounds.journalRotationIntervalMs);
  await temporary.journal.rotateAndDeleteLogs();
  assert.equal(journalLogs(temporary).length, 1);
  temporary.repairFiles();
  while (!temporary.journal.healthy) await new Promise(setImmediate);
  // The next batch has the number of the rejected batches.
  await append(temporary, 4);
  await temporary.journal.rotateAndDeleteLogs();
  assert.equal(journalLogs(temporary).length, 2);
  await append(temporary, 5);
  assert.deepEqual(await restoredSerials(temporary), [1, 2, 4, 5]);
});

test('deletes a journal log as soon as all of its sessions have expired', async (t) => {
  const { clock, temporary } = await openWithClock(t);
  const [first] = journalLogs(temporary);
  clock.advance(bounds.journalRotationIntervalMs);
  await append(temporary, 1);
  await temporary.journal.rotateAndDeleteLogs();
  clock.advance(ttlMs - 1);
  await temporary.journal.rotateAndDeleteLogs();
  assert(journalLogs(temporary).includes(first!));
  clock.advance(1);
  await temporary.journal.rotateAndDeleteLogs();
  assert(!journalLogs(temporary).includes(first!));
});

test('starts and deletes journal logs without synchronous file system calls', async (t) => {
  const incidents: unknown[] = [];
  const { clock, temporary } = await openWithClock(t, { onIncident: (incident) => incidents.push(incident) });
  const [first] = journalLogs(temporary);
  await append(temporary, 1);
  clock.advance(bounds.journalRotationIntervalMs);
  await temporary.journal.rotateAndDeleteLogs();
  clock.advance(ttlMs);
  await append(temporary, 2);
  const before = journalLogs(temporary);

  const isSynchronous = (name: string) => name.endsWith('Sync') && typeof fs[name as 'fsyncSync'] === 'function';
  const synchronous = Object.keys(fs).filter(isSynchronous) as 'fsyncSync'[];
  const mocks = synchronous.map((name) => t.mock.method(fs, name));
  syncBuiltinESMExports();
  await temporary.journal.rotateAndDeleteLogs();
  await append(temporary, 3);
  const called = synchronous.filter((_, i) => mocks[i]!.mock.callCount() > 0);
  t.mock.restoreAll();
  syncBuiltinESMExports();

  assert.deepEqual([called, incidents], [[], []]);
  assert.equal(before[0], first);
  const after = journalLogs(temporary);
  assert.equal(after.length, 2);
  assert.deepEqual(after[0], before[1]);
});

test('retries the failed deletion of a journal log, and reports both the failure and the later success', async (t) => {
  const incidents: string[] = [];
  const { clock, temporary } = await openWithClock(t, { onIncident: ({ kind }) => incidents.push(kind) });
  const [first] = journalLogs(temporary);
  await append(temporary, 1);
  clock.advance(bounds.journalRotationIntervalMs);
  await temporary.journal.rotateAndDeleteLogs();
  clock.advance(ttlMs);
  const rm = t.mock.method(fs.promises, 'rm', () => Promise.reject(new Error('an i/o error')));
  syncBuiltinESMExports();
  await temporary.journal.rotateAndDeleteLogs();
  rm.mock.restore();
  syncBuiltinESMExports();
  assert.deepEqual([rm.mock.callCount(), incidents], [1, ['maintenance-failed']]);
  for (let again = 0; again < 2; again++) await temporary.journal.rotateAndDeleteLogs();
  assert.deepEqual(incidents, ['maintenance-failed', 'maintenance-recovered']);
  assert(!journalLogs(temporary).some((name) => name.startsWith(first!)));
});

test('reports damage to the last batch of a closed journal', async (t) => {
  const temporary = await openTemporaryJournal(t);
  await append(temporary, 1);
  await temporary.journal.close();
  const [log] = journalLogs(temporary);
  const segment = join(temporary.folder, log!, '0000000000000001.log');
  const bytes = readFileSync(segment);
  bytes[bytes.length - 1]! ^= 1;
  writeFileSync(segment, bytes);
  await assert.rejects(temporary.merges(), { name: 'LogDamagedError', file: segment });
  bytes[bytes.length - 1]! ^= 1;
  writeFileSync(segment, bytes);
});

test('deletes a journal log and the files with copies of its incomplete records', async (t) => {
  const { clock, temporary } = await openWithClock(t);
  await append(temporary, 1);
  await temporary.journal.close();
  const [log] = journalLogs(temporary);
  rmSync(join(temporary.folder, log!, '0000000000000003.log'));
  appendFileSync(join(temporary.folder, log!, '0000000000000001.log'), 'torn');
  assert.equal((await temporary.merges()).length, 1);
  const cutTails = () => fs.globSync(join(temporary.folder, '**/*.from-*'));
  assert.equal(cutTails().length, 1);
  clock.advance(ttlMs);
  await temporary.merges();
  assert.deepEqual(cutTails(), []);
});

test('a restart deletes expired and empty journal logs', async (t) => {
  const { clock, temporary } = await openWithClock(t);
  for (let i = 0; i < 3; i++) await temporary.merges();
  assert.equal(journalLogs(temporary).length, 1);
  await append(temporary, 1);
  clock.advance(ttlMs);
  await temporary.merges();
  assert.equal(journalLogs(temporary).length, 1);
  assert.deepEqual(await temporary.merges(), []);
});

test('a restart deletes the rest of a journal log whose deletion was interrupted', async (t) => {
  const temporary = await openTemporaryJournal(t);
  await append(temporary, 1);
  const gone = join(temporary.folder, '0001700000000000.gone');
  mkdirSync(gone);
  writeFileSync(join(gone, '0000000000000002.log'), 'half a journal log');
  assert.equal((await temporary.merges()).length, 1);
  assert(!journalLogs(temporary).includes('0001700000000000.gone'));
});

test('keeps the order of field changes when the system clock is set back', async (t) => {
  const { clock, temporary } = await openWithClock(t);
  await append(temporary, 1);
  clock.setWall(clock.wallMs() - 60_000);
  await temporary.merges();
  await append(temporary, 2);
  assert.deepEqual(await restoredSerials(temporary), [1, 2]);
});

test('opens a journal with rotated secrets, and reports a missing secret', async (t) => {
  const temporary = await openTemporaryJournal(t);
  await append(temporary, 1);
  const first = { number: 1, bytes: temporary.options.secrets.newest.bytes };
  const other = { number: 2, bytes: Buffer.alloc(32, 2) };
  assert.equal((await temporary.merges({ secrets: new SecretSet([first, other]) })).length, 1);
  await append(temporary, 2);
  await temporary.journal.close();
  await assert.rejects(temporary.merges({ secrets: new SecretSet([first]) }), /LogDamaged|secret 2.*does not list/);
  const replaced = new SecretSet([{ number: 1, bytes: Buffer.alloc(32, 9) }, other]);
  await assert.rejects(temporary.merges({ secrets: replaced }), /cannot be decrypted/);
  assert.equal((await temporary.merges({ secrets: new SecretSet([first, other]) })).length, 2);
});

test('close stores all queued changes, rejects later changes and is idempotent', async (t) => {
  const temporary = await openTemporaryJournal(t);
  const pending = append(temporary, 1);
  await Promise.all([temporary.journal.close(), temporary.journal.close()]);
  await pending;
  await assert.rejects(append(temporary, 2), LogUnavailableError);
  assert.equal((await temporary.merges()).length, 1);
});

const secret = randomBytes(32);
const salt = randomBytes(16);

test('decryptBatch returns null for a wrong batch number, salt or secret, and for changed or truncated ciphertext', () => {
  const cipher = new JournalCipher(secret, salt);
  const ciphertext = cipher.encryptBatch(7, Buffer.from('field changes'));
  assert.deepEqual(new JournalCipher(secret, salt).decryptBatch(7, ciphertext), Buffer.from('field changes'));
  assert.equal(cipher.decryptBatch(8, ciphertext), null);
  assert.equal(new JournalCipher(secret, randomBytes(16)).decryptBatch(7, ciphertext), null);
  assert.equal(new JournalCipher(randomBytes(32), salt).decryptBatch(7, ciphertext), null);
  for (let at = 0; at < ciphertext.length; at++) {
    const changed = Buffer.from(ciphertext);
    changed[at]! ^= 1;
    assert.equal(cipher.decryptBatch(7, changed), null);
    assert.equal(cipher.decryptBatch(7, ciphertext.subarray(0, at)), null);
  }
});

const { fields } = personalLoans;
const state = findFieldIndex(personalLoans, 'state');
const amount = findFieldIndex(personalLoans, 'loan_amount');

function withFields(changed: Vertical['fields']): Vertical {
  return { ...personalLoans, fields: changed };
}

test('creates no converter for stored field changes if the field encodings have not changed', () => {
  const parsed = parsePocketFieldEncodings(formatPocketFieldEncodings([personalLoans, equipmentLeases]));
  for (const vertical of [personalLoans, equipmentLeases]) {
    const encodings = parsed.get(vertical.number)!;
    assert.deepEqual(encodings, getPocketFieldEncodings(vertical));
    assert.equal(createFieldChangeConverter(encodings, vertical), null);
  }
});

test('rejects invalid field encodings', () => {
  for (const text of ['', '[]', '{"1":{}}', '{"1":[{"name":1,"kind":"choice"}]}']) {
    assert.throws(() => parsePocketFieldEncodings(text), text);
  }
});

test('converts stored field changes to the current order of the fields', () => {
  fc.assert(
    fc.property(fc.shuffledSubarray([...fields], { minLength: fields.length }), (shuffled) => {
      const today = withFields(shuffled);
      const translate =
        createFieldChangeConverter(getPocketFieldEncodings(personalLoans), today) ??
        ((changes: readonly number[]) => changes);
      const changes = fields.flatMap((_, position) => [position, -1]);
      changes[2 * state + 1] = 3;
      changes[2 * amount + 1] = 15_000;
      const translated = translate(changes);
      const kept = (name: string) => {
        const at = translated.findIndex((each, i) => i % 2 === 0 && each === findFieldIndex(today, name));
        return translated[at + 1];
      };
      assert.deepEqual([kept('state'), kept('loan_amount'), kept('birthdate')], [3, 15_000, -1]);
    }),
  );
});

test('if the allowed values of a field change, the converter updates stored values, and omits values no longer allowed', () => {
  const moved = withFields(
    fields.map((field) =>
      field.name === 'state' && field.kind === 'choice' ? { ...field, values: ['ZZ', 'CA'] } : field,
    ),
  );
  const translate = createFieldChangeConverter(getPocketFieldEncodings(personalLoans), moved)!;
  const words = (fields[state] as { values: readonly string[] }).values;
  assert.deepEqual(translate([state, words.indexOf('CA'), amount, 5_000]), [state, 1, amount, 5_000]);
  assert.deepEqual(translate([state, words.indexOf('NY'), amount, 5_000]), [amount, 5_000]);
  assert.deepEqual(translate([state, -1]), [state, -1]);
});

test('the conversion of stored field changes omits removed fields and fields whose kind has changed', () => {
  const gone = withFields(fields.filter(({ name }) => name !== 'state'));
  assert.deepEqual(createFieldChangeConverter(getPocketFieldEncodings(personalLoans), gone)!([state, 3]), []);
  const other = withFields(
    fields.map((field) => (field.name === 'state' ? { name: 'state', kind: 'boolean' } : field)),
  );
  assert.deepEqual(createFieldChangeConverter(getPocketFieldEncodings(personalLoans), other)!([state, 1]), []);
  assert.deepEqual(createFieldChangeConverter(getPocketFieldEncodings(personalLoans), other)!([99, 1]), []);
});
