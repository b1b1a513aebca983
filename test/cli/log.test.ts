import assert from 'node:assert/strict';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Encoder } from '@msgpack/msgpack';
import { openEventLog } from '../../src/event-log/file-event-log.ts';
import { computeFrameCrc, encodeSegmentHeader, segmentHeaderLength } from '../../src/event-log/log-format.ts';
import { lockFolder } from '../../src/files/folder-lock.ts';
import { damageByte } from '../event-log/log-fixture.ts';
import { sessionCreatedRecord, subIdBytes } from '../support/ledger-records.ts';
import { marketplaceOnFreshFolder } from './sample-data-folder.ts';

const firstMs = Date.UTC(2026, 4, 20, 12);

/** Creates a data folder whose ledger has two segments with six sessions, one second apart, and no clean-stop mark. */
async function sixSessions(t: TestContext) {
  const { folder: dataFolder, run } = marketplaceOnFreshFolder(t);
  const ledger = join(dataFolder, 'ledger');
  for (const firstSerial of [0, 3]) {
    const log = await openEventLog({ folder: ledger, durability: 'fsync' });
    for (let serial = firstSerial; serial < firstSerial + 3; serial++) {
      const sub = subIdBytes({ createdMs: firstMs + serial * 1_000, serial });
      await log.append(sessionCreatedRecord(sub, { tag: `tag_${serial}` }))!.durable;
    }
    await log.close();
  }
  const [first, second, endMark] = readdirSync(ledger)
    .sort()
    .map((name) => join(ledger, name));
  rmSync(endMark!);
  return { dataFolder, ledger, run, first: first!, second: second! };
}

/** Damages the first record of a segment. */
const damage = (file: string): void => damageByte(file, segmentHeaderLength + 40);

const cutOf = (file: string): string => `${basename(file)}:${segmentHeaderLength}`;

test('verify prints the contents of an intact log, also while a server uses the data folder', async (t) => {
  const { dataFolder, ledger, run, first, second } = await sixSessions(t);
  const lock = lockFolder(dataFolder);
  const { code, stdout, stderr } = await run('log', 'verify');
  lock.release();
  assert.deepEqual([code, stderr], [0, '']);
  assert.deepEqual(stdout.split('\n'), [
    `folder    ${ledger}`,
    'segments  2',
    `bytes     ${readFileSync(first).length + readFileSync(second).length}`,
    'records   6, at positions 1 to 6',
    'first     2026-05-20T12:00:00.000Z',
    'last      2026-05-20T12:00:05.000Z',
    'state     intact',
    '',
  ]);
});

test('log verify accepts a path to any log folder, and accepts an incomplete last record', async (t) => {
  const { dataFolder, ledger, run, second } = await sixSessions(t);
  const other = join(dataFolder, 'other');
  symlinkSync(ledger, other);
  appendFileSync(second, Buffer.alloc(7, 1));
  const plain = await run('log', 'verify', other);
  assert.match(
    plain.stdout,
    /intact; ends with 7 bytes of an incomplete record \(a write in progress or a torn tail; /,
  );
  const { code, stdout } = await run('log', 'verify', other, '--json');
  const { bytes, ...rest } = JSON.parse(stdout);
  assert.deepEqual([plain.code, code, bytes > 500], [0, 0, true]);
  assert.deepEqual(rest, {
    folder: other,
    segments: 2,
    records: 6,
    first_position: 1,
    last_position: 6,
    first_at: '2026-05-20T12:00:00.000Z',
    last_at: '2026-05-20T12:00:05.000Z',
    tail_bytes: 7,
    damage: null,
  });
});

test('verify prints the file, offset and reason of any damage, and exits with code 3', async (t) => {
  const { run, second } = await sixSessions(t);
  damage(second);
  const { code, stdout, stderr } = await run('log', 'verify');
  assert.equal(code, 3);
  assert.match(stdout, /records {3}3, at positions 1 to 3\n.*\n.*\nstate {5}damaged after these records\n$/);
  assert.match(stderr, new RegExp(`log repair --cut ${cutOf(second)} `));
  assert.ok(stderr.includes(`marketplace: ${second}: damaged at byte ${segmentHeaderLength}: record 4 is incomplete`));

  const json = await run('log', 'verify', '--json');
  const { records, last_position: last, damage: found } = JSON.parse(json.stdout);
  assert.deepEqual([json.code, records, last, found.file, found.offset], [3, 3, 3, second, segmentHeaderLength]);
  assert.match(found.what, /^record 4 is incomplete/);
});

test('log repair creates a missing journal, but fails while a server uses the data folder', async (t) => {
  const { dataFolder, run } = await sixSessions(t);
  const journal = join(dataFolder, 'journal');
  const createJournal = (...more: string[]) => run('log', 'repair', '--accept-missing-journal', ...more);
  const dryRun = await createJournal();
  assert.deepEqual([dryRun.code, existsSync(journal)], [0, false]);
  assert.match(dryRun.stdout, /^Would create an empty .*journal/);
  assert.match(dryRun.stderr, /--yes/);
  const lock = lockFolder(dataFolder);
  assert.equal((await createJournal('--yes')).code, 1);
  lock.release();
  assert.equal((await createJournal('--yes')).code, 0);
  assert.deepEqual([readdirSync(journal).length, statSync(journal).mode & 0o777], [1, 0o700]);
  assert.deepEqual(JSON.parse((await createJournal('--yes', '--json')).stdout), { outcome: 'journal_not_missing' });
});

test('verify reports that the log is missing', async (t) => {
  const { folder, run } = marketplaceOnFreshFolder(t);
  const { code, stdout, stderr } = await run('log', 'verify');
  assert.deepEqual([code, stdout], [1, '']);
  assert.equal(stderr, `marketplace: there is no log at ${join(folder, 'ledger')} yet (see SVC_DATA_DIR)\n`);
});

test('inspect prints the given number of records from a position; --json prints one object per line', async (t) => {
  const { run } = await sixSessions(t);
  const { code, stdout, stderr } = await run('log', 'inspect', '--from', '3', '--count', '2');
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(
    stdout,
    /^3 {2}session_created {2}2026-05-20T12:00:02.000Z {2}sub_[0-9a-f]{64} {2}referrer_tag="tag_2" {2}key_number=1 .*\n4 .* referrer_tag="tag_3" .*\n$/,
  );
  const all = await run('log', 'inspect', '--json');
  const records = all.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    records.map(({ position, referrer_tag: tag }) => [position, tag]),
    [0, 1, 2, 3, 4, 5].map((serial) => [serial + 1, `tag_${serial}`]),
  );
  const beyond = await run('log', 'inspect', '--from', '7');
  assert.deepEqual(beyond, { code: 0, stdout: '', stderr: 'The last record of the log is 6.\n' });
});

test('inspect prints the records before the damage, including a record that cannot be decoded', async (t) => {
  const { folder, run } = marketplaceOnFreshFolder(t);
  mkdirSync(join(folder, 'ledger'), { recursive: true });
  const file = join(folder, 'ledger', '0000000000000001.log');
  writeFileSync(file, encodeSegmentHeader({ firstSequence: 1, previousCrc: 0 }));
  let crc = 0;
  for (const [index, value] of [7, [99, 5]].entries()) {
    const payload = new Encoder().encode(value);
    crc = computeFrameCrc(index + 1, crc, payload);
    const head = Buffer.alloc(8);
    head.writeUInt32BE(payload.length, 0);
    head.writeUInt32BE(crc, 4);
    appendFileSync(file, Buffer.concat([head, payload]));
  }
  writeFileSync(join(folder, 'ledger', '0000000000000003.log'), 'no segment');
  const { code, stdout, stderr } = await run('log', 'inspect');
  assert.equal(stdout, '1  error="cannot be decoded: a record must be an array"\n2  99  members=[5]\n');
  assert.equal(code, 3);
  assert.match(stderr, /0000000000000003\.log: damaged at byte 0: /);
});

test('repair without --yes only prints the changes that it would make', async (t) => {
  const { dataFolder, run, ledger, second } = await sixSessions(t);
  damage(second);
  const before = readFileSync(second);
  const { code, stdout, stderr } = await run('log', 'repair', '--cut', cutOf(second));
  assert.equal(code, 0);
  assert.match(stdout, /^Would do:\n\nkept {5}3 records, up to position 3\nmoved {4}/);
  assert.ok(stdout.includes(`${before.length - segmentHeaderLength} bytes at the end of ${basename(second)}\n`));
  assert.match(stdout, /2 readable records, from \S+:04.000Z to \S+:05.000Z; 1 unreadable\n/);
  assert.match(stderr, /--yes/);
  assert.ok(readFileSync(second).equals(before));
  assert.deepEqual(readdirSync(dataFolder).sort(), [basename(ledger), 'lock']);
});

test('repair --yes truncates the log at the damage and moves the rest to another folder; a second run changes nothing', async (t) => {
  const { dataFolder, run, first, second } = await sixSessions(t);
  damage(first);
  const before = [first, second].map((file) => readFileSync(file));
  const { code, stdout, stderr } = await run('log', 'repair', '--cut', `${first}:${segmentHeaderLength}`, '--yes');
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /^Done:/);
  const removed = readdirSync(dataFolder).find((name) => /^ledger-removed-\d{8}T\d{9}Z$/.test(name));
  assert.ok(removed !== undefined && stdout.includes(removed));
  const moved = (name: string) => readFileSync(join(dataFolder, removed, name));
  assert.ok(moved(`${basename(first)}.from-${segmentHeaderLength}`).equals(before[0]!.subarray(segmentHeaderLength)));
  assert.ok(moved(basename(second)).equals(before[1]!));

  const { damage: remaining, records } = JSON.parse((await run('log', 'verify', '--json')).stdout);
  assert.deepEqual([remaining, records], [null, 0]);
  const again = await run('log', 'repair', '--cut', `${first}:${segmentHeaderLength}`, '--yes');
  assert.deepEqual([again.code, again.stdout], [0, 'The log is intact and ends at this position: nothing to cut.\n']);
});

test('repair rejects every log that a server uses, even if the given path is a symbolic link', async (t) => {
  const { dataFolder, ledger, run, second } = await sixSessions(t);
  damage(second);
  symlinkSync(ledger, join(dirname(dataFolder), 'elsewhere'));
  const [archive, journalLog] = [join(dataFolder, 'sealed'), join(dataFolder, 'journal', '0000000000000001')];
  for (const folder of [archive, journalLog]) mkdirSync(folder, { recursive: true });
  const lock = lockFolder(dataFolder);
  for (const folder of [[], [ledger], [join(dirname(dataFolder), 'elsewhere')], [archive], [journalLog]]) {
    const { code, stderr } = await run('log', 'repair', ...folder, '--cut', cutOf(second), '--yes');
    assert.equal(code, 1);
    assert.match(stderr, /is in use by another instance of this service; stop it first\n$/);
  }
  lock.release();
  assert.equal(existsSync(second), true);
});

test('repair rejects a --cut position at which the log is not damaged, and prints the position of the damage', async (t) => {
  const { run, first, second } = await sixSessions(t);
  const intact = await run('log', 'repair', '--cut', cutOf(second), '--yes');
  assert.equal(intact.code, 1);
  assert.match(intact.stderr, /the log is intact; only a damaged log can be cut\n$/);
  damage(second);
  const elsewhere = await run('log', 'repair', '--cut', cutOf(first), '--yes');
  assert.equal(elsewhere.code, 1);
  assert.ok(elsewhere.stderr.includes(`the damage is at ${cutOf(second)}, not at this position`));
});
