import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { before, describe, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { readKeyFileNumbers } from '../../src/auth/key-file.ts';
import { daysSinceEpoch, formatIsoDate, msPerDay } from '../../src/domain/calendar.ts';
import { segmentHeaderLength } from '../../src/event-log/log-format.ts';
import { readDataInventory } from '../../src/files/data-inventory.ts';
import { createMarketplace, type Marketplace } from '../../src/index.ts';
import { addSecret } from '../../src/secrets/secret-file.ts';
import { runMarketplace } from '../cli/run-marketplace.ts';
import { ok } from '../embedded/embedded-marketplace.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

const retentionDays = 140;
const startMs = (daysSinceEpoch(Date.now()) - 170) * msPerDay + msPerDay / 2;
const { catalogs } = fixture;

type Column = 'missing' | 'empty' | 'truncated' | 'older copy' | 'newer than the others' | 'of another folder';

let root = '';
/** Data folder after the last run of the service, and its state before this run. */
let current: DataFolder;
let older: DataFolder;
/** A data folder of another service. */
let other: DataFolder;
/** Copy of the current folder while its service runs, as after a crash. */
let crashed: DataFolder;

/** State of a data folder, and what a start must restore. */
interface DataFolder {
  readonly folder: string;
  readonly endMs: number;
  /** Key of each account. */
  readonly keys: readonly string[];
  /** Live session with fields. */
  readonly subId: string;
}

const open = (dataDir: string, nowMs: number): Promise<Marketplace> =>
  createMarketplace({
    dataDir,
    clock: new ManualClock(nowMs),
    catalogs,
    retentionDays,
    listen: { engine: 'node' },
  });

/** Runs a service while `use` runs. */
async function withService<Result>(
  dataDir: string,
  nowMs: number,
  use: (marketplace: Marketplace) => Promise<Result> | Result,
): Promise<Result> {
  const marketplace = await open(dataDir, nowMs);
  try {
    return await use(marketplace);
  } finally {
    await marketplace.close();
  }
}

async function createVisit(marketplace: Marketplace, key: string): Promise<string> {
  const partner = marketplace.partnerApi(key);
  const { sub_id } = ok(await partner.createSession({ referrer_tag: 'table' }));
  ok(await partner.submitInputs({ sub_id, fields: fixture.complete }));
  const { offers } = ok(await partner.getMarketplace({ sub_id }));
  assert.equal((await marketplace.followClick(offers[0]!.click_url)).kind, 'redirect');
  ok(await partner.queryAnalytics({ referrer_tag: 'table' }));
  return sub_id;
}

/** Waits until the archive of the folder has this number of segments with figures. */
async function waitForArchive(folder: string, segments: number): Promise<void> {
  const sealed = join(folder, 'sealed');
  const count = () =>
    existsSync(sealed) ? listFiles(sealed).filter((file) => statSync(file).size > segmentHeaderLength).length : 0;
  while (count() < segments) await pause(10);
}

/** Runs a service on days 0, 10, 149 and 150 in a folder; the retention archives day 0. */
async function writeFolder(folder: string, account: string): Promise<DataFolder> {
  let key = '';
  let subId = '';
  let endMs = 0;
  for (const day of [0, 10, 149, 150, 150]) {
    endMs = Math.max(endMs + 60_000, startMs + day * msPerDay);
    await withService(folder, endMs, async (marketplace) => {
      key ||= marketplace.keys.create({ account, vertical: 'personal-loans', mode: 'live' }).key;
      subId = await createVisit(marketplace, key);
    });
  }
  await withService(folder, endMs, () => waitForArchive(folder, 1));
  return { folder, endMs, keys: [key], subId };
}

before(async () => {
  root = temporaryFolder();
  const folder = join(root, 'current');
  const first = await writeFolder(folder, 'first');
  older = { ...first, folder: join(root, 'older') };
  cpSync(folder, older.folder, { recursive: true });
  other = await writeFolder(join(root, 'other'), 'stranger');

  // Three days later: a new secret, a second account, a revoked key, an allowed origin, and the archive of day 10.
  addSecret(join(folder, 'secrets.json'));
  const endMs = startMs + 153 * msPerDay;
  const [key, subId] = await withService(folder, endMs, async (marketplace) => {
    const { key } = marketplace.keys.create({ account: 'second', vertical: 'personal-loans', mode: 'live' });
    createRevokedKey(marketplace, 'second');
    marketplace.origins.allow('second', 'https://second.example');
    const subId = await createVisit(marketplace, key);
    await createVisit(marketplace, first.keys[0]!);
    return [key, subId] as const;
  });
  current = { folder, endMs: endMs + 120_000, keys: [...first.keys, key], subId };
  crashed = { ...current, folder: join(root, 'crashed') };
  await withService(folder, endMs + 60_000, async (marketplace) => {
    await waitForArchive(folder, 2);
    createRevokedKey(marketplace, 'third');
    // The inventory is written in the background.
    const { change } = readKeyFileNumbers(join(folder, 'keys.sqlite'));
    while ((readDataInventory(folder).inventory.keys?.change ?? 0) < change) await pause(10);
    cpSync(folder, crashed.folder, { recursive: true });
  });
});

function createRevokedKey(marketplace: Marketplace, account: string): void {
  marketplace.keys.revoke(marketplace.keys.create({ account, vertical: 'personal-loans', mode: 'test' }).id);
}

/** Sessions of each account on all days, and whether the fields of the live session are restored. */
async function describeService(marketplace: Marketplace, { keys, subId, endMs }: DataFolder) {
  const today = daysSinceEpoch(endMs);
  const dates = { date_from: formatIsoDate(today - 200), date_to: formatIsoDate(today) };
  const sessions: number[] = [];
  for (const key of keys) {
    const summary = ok(await marketplace.partnerApi(key).queryAnalytics({ referrer_tag: 'table', ...dates }));
    sessions.push(summary.sessions_total);
  }
  const fields = await marketplace.partnerApi(keys.at(-1)!).submitInputs({ sub_id: subId, fields: {} });
  return { sessions, readiness: fields.ok ? fields.value.match_readiness : fields.error.error };
}

const listFiles = (path: string): string[] =>
  statSync(path).isDirectory() ? readdirSync(path).flatMap((name) => listFiles(join(path, name))) : [path];

/** Cuts the newest part of a log, or every other file, in the middle. */
function truncate(path: string): void {
  const files = listFiles(path).filter((file) => statSync(file).size > segmentHeaderLength);
  const newest = files.filter((file) => file.endsWith('.log')).at(-1);
  for (const file of newest === undefined ? files : [newest]) truncateSync(file, Math.floor(statSync(file).size / 2));
}

function copyFolder(t: TestContext, from: string): string {
  const folder = join(temporaryFolder(t), 'data');
  cpSync(from, folder, { recursive: true });
  return folder;
}

/** Creates a data folder in which one file has the state of the column. Returns the folder, and the folder with the other files. */
function createCase(t: TestContext, file: string, column: Column): { folder: string; base: DataFolder } {
  const base = column === 'newer than the others' ? older : current;
  const folder = copyFolder(t, base.folder);
  const path = join(folder, file);
  const isFolder = statSync(path).isDirectory();
  const replace = (from: string) => {
    rmSync(path, { recursive: true });
    cpSync(join(from, file), path, { recursive: true });
  };
  switch (column) {
    case 'missing':
      rmSync(path, { recursive: true });
      break;
    case 'empty':
      if (!isFolder) truncateSync(path);
      else {
        rmSync(path, { recursive: true });
        mkdirSync(path);
      }
      break;
    case 'truncated':
      truncate(path);
      break;
    case 'older copy':
      replace(older.folder);
      break;
    case 'newer than the others':
      replace(current.folder);
      break;
    case 'of another folder':
      replace(other.folder);
      break;
  }
  return { folder, base };
}

const commands: Readonly<Record<string, readonly string[]>> = {
  ledger: ['log', 'repair', '--accept-missing-ledger'],
  journal: ['log', 'repair', '--accept-missing-journal'],
  keys: ['keys', 'repair'],
  audit: ['audit', 'repair'],
};

/** Runs the command that accepts the loss, first without `--yes`. The error of the start must name the command. */
async function acceptLoss(folder: string, error: string, outcome: string): Promise<void> {
  const command = commands[outcome]!;
  assert.ok(error.includes(`marketplace ${command.join(' ')} --yes`), error);
  const settings = { SVC_DATA_DIR: folder };
  const listNames = () => readdirSync(folder).filter((name) => !/-(wal|shm)$/.test(name));
  const names = listNames();
  assert.equal((await runMarketplace(command, settings)).code, 0);
  assert.deepEqual(listNames(), names);
  const accepted = await runMarketplace([...command, '--yes'], settings);
  assert.equal(accepted.code, 0, accepted.stderr);
  const again = await runMarketplace([...command, '--yes'], settings);
  assert.match(again.stdout, /nothing to do/);
}

/** Starts the service, which must fail, and returns the error message. */
function findStartError(folder: string, nowMs = current.endMs): Promise<string> {
  return open(folder, nowMs).then(
    async (marketplace) => {
      await marketplace.close();
      return assert.fail('the service started');
    },
    (error: Error) => {
      assert.match(error.message, /^[^\n]+$/);
      return error.message;
    },
  );
}

async function checkCase(t: TestContext, file: string, column: Column, outcome: string): Promise<void> {
  const { folder, base } = createCase(t, file, column);
  const { endMs: nowMs } = current;
  if (outcome !== 'starts') {
    const error = await findStartError(folder);
    assert.equal(await findStartError(folder), error);
    if (outcome === 'refuses') return;
    await acceptLoss(folder, error, outcome);
  }
  // A second start shows that the first start after a repair left the files in a consistent state.
  for (let starts = 0; starts < (outcome === 'starts' && file !== 'sealed' ? 1 : 2); starts++) {
    await withService(folder, nowMs, async (marketplace) => {
      marketplace.keys.create({ account: `new ${starts}`, vertical: 'personal-loans', mode: 'test' });
      if (outcome !== 'starts') return;
      const expected =
        base === older ? { sessions: [5], readiness: 'SUB_ID_EXPIRED' } : { sessions: [6, 1], readiness: 'high' };
      assert.deepEqual(await describeService(marketplace, { ...base, endMs: nowMs }), expected);
    });
  }
  const [account] = readKeyFileNumbers(join(folder, 'keys.sqlite')).accounts;
  assert.ok(account! > (base === older ? 1 : 3), `the new account has number ${account}`);
}

const guide = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');
const lines = guide.slice(guide.indexOf('| File | missing |')).split('\n');
const [head, , ...rows] = lines.slice(0, lines.indexOf('')).map((line) => line.split('|').slice(1, -1));
const columns = head!.slice(1).map((cell) => cell.trim() as Column);

describe('the service starts or refuses to start as the operating guide says', () => {
  for (const [name, ...cells] of rows) {
    const file = name!.trim().replaceAll('`', '');
    for (const [index, cell] of cells.entries()) {
      const outcome = cell.trim();
      test(`${file}, ${columns[index]}: ${outcome}`, (t) => checkCase(t, file, columns[index]!, outcome));
    }
  }
});

const segments = (folder: string) => readdirSync(join(folder, 'ledger')).sort();

/** Damages of a folder, and the command of the error. */
const losses: readonly (readonly [what: string, damage: (folder: string) => void, outcome: string])[] = [
  ['nothing is missing', () => {}, 'starts'],
  ['the first segment of the ledger is missing', (to) => rmSync(join(to, 'ledger', segments(to)[0]!)), 'ledger'],
  ['the ledger is empty', (to) => truncateLedger(to), 'ledger'],
  ['the journal is empty', (to) => rmSync(join(to, 'journal'), { recursive: true }), 'journal'],
  ['the key file is missing', (to) => removeDatabase(to, 'keys.sqlite'), 'keys'],
  ['the key file is older', (to) => replaceKeyFile(to), 'keys'],
];

function truncateLedger(folder: string): void {
  for (const name of segments(folder)) rmSync(join(folder, 'ledger', name));
}

function removeDatabase(folder: string, name: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(folder, name + suffix), { force: true });
}

function replaceKeyFile(folder: string): void {
  removeDatabase(folder, 'keys.sqlite');
  cpSync(join(older.folder, 'keys.sqlite'), join(folder, 'keys.sqlite'));
}

/** States in which the service finds a folder, with the files that these states lack. */
const states: readonly (readonly [state: string, from: () => DataFolder, removed: readonly string[]])[] = [
  ['after a clean stop', () => current, []],
  ['after a crash', () => crashed, []],
  ['of an earlier release', () => current, ['inventory.json']],
  ['of an earlier release without analytics', () => current, ['inventory.json', 'analytics.sqlite']],
];

for (const [state, from, removed] of states) {
  for (const [what, damage, outcome] of losses) {
    test(`in a folder ${state}, if ${what}: ${outcome}`, async (t) => {
      const folder = copyFolder(t, from().folder);
      for (const name of removed) removeDatabase(folder, name);
      damage(folder);
      if (outcome !== 'starts') await acceptLoss(folder, await findStartError(folder), outcome);
      await withService(folder, current.endMs, async (marketplace) => {
        if (outcome === 'starts') {
          assert.deepEqual(await describeService(marketplace, current), { sessions: [6, 1], readiness: 'high' });
        }
        marketplace.keys.create({ account: 'new', vertical: 'personal-loans', mode: 'live' });
      });
      assert.ok(readKeyFileNumbers(join(folder, 'keys.sqlite')).accounts[0]! > 2);
    });
  }
}

/** Removes the unit key from the secret file, as in the file of an earlier release. Returns the key. */
function removeUnitKey(folder: string): unknown {
  const path = join(folder, 'secrets.json');
  const { unit_key, ...others } = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, JSON.stringify(others));
  return unit_key;
}

/** Removes the unit key and what only this release writes into the inventory. */
function makeFolderOfEarlierRelease(folder: string): void {
  removeUnitKey(folder);
  const path = join(folder, 'inventory.json');
  const { hasUnitKey, ...others } = JSON.parse(readFileSync(path, 'utf8'));
  assert.equal(hasUnitKey, true);
  writeFileSync(path, JSON.stringify(others));
}

const hasLostUnitKey = /secrets\.json has lost its unit_key/;

/** Creates a session with a unit in a copy of the current folder, and later a session without a unit. */
async function writeFolderWithUnit(t: TestContext): Promise<{ folder: string; endMs: number }> {
  const folder = copyFolder(t, current.folder);
  const endMs = current.endMs + 8 * msPerDay;
  await withService(folder, endMs - 7 * msPerDay, async (marketplace) => {
    ok(await marketplace.partnerApi(current.keys[0]!).createSession({ referrer_tag: 'table', unit_id: 'visitor-1' }));
  });
  // Five days later, the record with the unit is not replayed for sessions and limits.
  await withService(folder, endMs - 2 * msPerDay, (marketplace) => createVisit(marketplace, current.keys[0]!));
  return { folder, endMs };
}

test('the first start after an upgrade adds a unit key to the secret file', async (t) => {
  for (const removed of [[], ['inventory.json'], ['inventory.json', 'analytics.sqlite']]) {
    const folder = copyFolder(t, current.folder);
    makeFolderOfEarlierRelease(folder);
    for (const name of removed) removeDatabase(folder, name);
    await withService(folder, current.endMs, async (marketplace) => {
      assert.deepEqual(await describeService(marketplace, current), { sessions: [6, 1], readiness: 'high' });
    });
    const unitKey = removeUnitKey(folder);
    assert.match(String(unitKey), /^[0-9a-f]{64}$/);
    // From now on, the inventory proves that the file had a key.
    assert.match(await findStartError(folder), hasLostUnitKey);
  }
});

test('refuses a secret file without its unit key if the inventory or the ledger proves that it had one', async (t) => {
  const from = await writeFolderWithUnit(t);
  for (const removed of [[], ['inventory.json'], ['inventory.json', 'analytics.sqlite']]) {
    const folder = copyFolder(t, from.folder);
    removeUnitKey(folder);
    for (const name of removed) removeDatabase(folder, name);
    assert.match(await findStartError(folder, from.endMs), hasLostUnitKey, `${removed}`);
    const path = join(folder, 'secrets.json');
    const content = JSON.parse(readFileSync(path, 'utf8'));
    assert.equal(content.unit_key, undefined);
    // The operator accepts the loss by a new key.
    const unit_key = 'f'.repeat(64);
    writeFileSync(path, JSON.stringify({ ...content, unit_key }));
    await withService(folder, from.endMs, () => {});
    assert.equal(removeUnitKey(folder), unit_key);
  }
});

test('refuses a secret file whose unit key an earlier release has removed after units were used', async (t) => {
  const folder = copyFolder(t, current.folder);
  await withService(folder, current.endMs, async (marketplace) => {
    ok(await marketplace.partnerApi(current.keys[0]!).createSession({ referrer_tag: 'table', unit_id: 'visitor-1' }));
  });
  makeFolderOfEarlierRelease(folder);
  assert.match(await findStartError(folder), hasLostUnitKey);
});

test('a restored backup is refused without the unit key', async (t) => {
  const folder = copyFolder(t, current.folder);
  const target = join(folder, '..', 'backup');
  assert.equal((await runMarketplace(['backup', target], { SVC_DATA_DIR: folder })).code, 0);
  removeUnitKey(target);
  assert.match(await findStartError(target), hasLostUnitKey);
});

test('after a crash, a start without the audit log or its write-ahead log is refused, unless nothing proves that it existed', async (t) => {
  for (const names of [['audit.sqlite', 'audit.sqlite-wal', 'audit.sqlite-shm'], ['audit.sqlite-wal']]) {
    const folder = copyFolder(t, crashed.folder);
    for (const name of names) rmSync(join(folder, name), { force: true });
    await acceptLoss(folder, await findStartError(folder), 'audit');
    await withService(folder, current.endMs, () => {});
    const verified = await runMarketplace(['audit', 'verify'], { SVC_DATA_DIR: folder });
    assert.match(verified.stdout, /^whole: \d+ entries; \d+ more are lost/, verified.stderr);
  }
  const folder = copyFolder(t, current.folder);
  for (const name of ['inventory.json', 'audit.sqlite']) removeDatabase(folder, name);
  await withService(folder, current.endMs, () => {});
  const { stdout } = await runMarketplace(['audit', 'list'], { SVC_DATA_DIR: folder });
  assert.match(stdout, / audit\.create .*\{"log_id":/);
});

test('audit repair can be repeated if it was interrupted before the inventory was written', async (t) => {
  const folder = copyFolder(t, current.folder);
  removeDatabase(folder, 'audit.sqlite');
  const inventory = join(folder, 'inventory.json');
  const { audit, ...others } = JSON.parse(readFileSync(inventory, 'utf8'));
  const repair = () => runMarketplace(['audit', 'repair', '--yes'], { SVC_DATA_DIR: folder });
  assert.equal((await repair()).code, 0);
  // The inventory of the interrupted repair, which was written before the entry.
  const { number, hash } = audit;
  writeFileSync(inventory, JSON.stringify({ ...others, audit: { number, hash } }));
  assert.match((await repair()).stdout, /nothing to do/);
  await withService(folder, current.endMs, () => {});
});

test('after a crash, a start without the write-ahead log of the keys is refused', async (t) => {
  const folder = copyFolder(t, crashed.folder);
  rmSync(join(folder, 'keys.sqlite-wal'));
  await acceptLoss(folder, await findStartError(folder), 'keys');
});

test('a ledger of which only the end mark is left is refused', async (t) => {
  const folder = copyFolder(t, current.folder);
  for (const name of segments(folder).slice(0, -1)) rmSync(join(folder, 'ledger', name));
  await acceptLoss(folder, await findStartError(folder), 'ledger');
});

test('a ledger that was lost with all other files but the keys and the journal is refused', async (t) => {
  for (const from of [current, crashed]) {
    for (const damage of [truncateLedger, (folder: string) => rmSync(join(folder, 'ledger'), { recursive: true })]) {
      const folder = copyFolder(t, from.folder);
      for (const name of ['inventory.json', 'analytics.sqlite']) removeDatabase(folder, name);
      rmSync(join(folder, 'sealed'), { recursive: true });
      damage(folder);
      const error = await findStartError(folder);
      assert.equal(await findStartError(folder), error);
      await acceptLoss(folder, error, 'ledger');
      await withService(folder, current.endMs, () => {});
    }
  }
});

test('keys create does not assign the number of an account that the ledger knows', async (t) => {
  for (const removed of [[], ['inventory.json'], ['inventory.json', 'analytics.sqlite']]) {
    for (const damage of [replaceKeyFile, (folder: string) => removeDatabase(folder, 'keys.sqlite')]) {
      const folder = copyFolder(t, current.folder);
      for (const name of removed) removeDatabase(folder, name);
      damage(folder);
      const create = () =>
        runMarketplace(
          ['keys', 'create', '--account', 'new', '--vertical', 'personal-loans', '--mode', 'live', '--raw'],
          { SVC_DATA_DIR: folder },
        );
      const refused = await create();
      assert.deepEqual([refused.code, refused.stdout], [1, '']);
      await acceptLoss(folder, refused.stderr, 'keys');
      assert.equal((await create()).code, 0);
      assert.ok(readKeyFileNumbers(join(folder, 'keys.sqlite')).accounts[0]! > 2);
    }
  }
});

test('keys revoked after the copy of a key file was made need the operator to accept the copy', async (t) => {
  const folder = copyFolder(t, current.folder);
  const target = join(folder, '..', 'backup');
  const settings = { SVC_DATA_DIR: folder };
  assert.equal((await runMarketplace(['backup', target], settings)).code, 0);
  const [{ id }] = JSON.parse((await runMarketplace(['keys', 'list', '--json'], settings)).stdout);
  await withService(folder, current.endMs, (marketplace) => {
    marketplace.keys.revoke(id);
  });
  removeDatabase(folder, 'keys.sqlite');
  cpSync(join(target, 'keys.sqlite'), join(folder, 'keys.sqlite'));
  const error = await findStartError(folder);
  await acceptLoss(folder, error, 'keys');
});

test('a restored backup starts with the same figures, also after analytics rebuild', async (t) => {
  for (const rebuilds of [false, true]) {
    const folder = copyFolder(t, current.folder);
    const [target, restored] = [join(folder, '..', 'backup'), join(folder, '..', 'restored')];
    const backup = await runMarketplace(['backup', target], { SVC_DATA_DIR: folder });
    assert.equal(backup.code, 0, backup.stderr);
    cpSync(target, restored, { recursive: true });
    const settings = { SVC_DATA_DIR: restored };
    assert.equal((await runMarketplace(['log', 'verify', join(restored, 'ledger')], settings)).code, 0);
    if (rebuilds) assert.equal((await runMarketplace(['analytics', 'rebuild'], settings)).code, 0);
    await withService(restored, current.endMs, async (marketplace) => {
      assert.deepEqual(await describeService(marketplace, current), { sessions: [6, 1], readiness: 'high' });
    });
    // The backup of a folder that has lost keys contains the numbers of the lost keys.
    replaceKeyFile(restored);
    await acceptLoss(restored, await findStartError(restored), 'keys');
  }
});

test('with durability write, the service starts without the last records, which a power cut can lose', async (t) => {
  const folder = copyFolder(t, crashed.folder);
  // The last segment is the end mark of a run without records.
  for (const name of segments(folder).slice(-2)) rmSync(join(folder, 'ledger', name));
  const start = (durability: 'write' | 'fsync') =>
    createMarketplace({
      dataDir: folder,
      clock: new ManualClock(current.endMs),
      catalogs,
      durability,
      urls: { click: 'https://go.example' },
    });
  await assert.rejects(start('fsync'), /--accept-missing-ledger/);
  // A failed start closes the ledger with an end mark, which a power cut does not leave.
  rmSync(join(folder, 'ledger', segments(folder).at(-1)!));
  await (await start('write')).close();
});

test('refuses older keys together with an older or missing inventory and analytics store', async (t) => {
  // The records of the second account are too old to be replayed for sessions and limits.
  const lastMs = current.endMs + 8 * msPerDay;
  const isOlder = /keys\.sqlite is older than the data folder/;
  const newer = copyFolder(t, current.folder);
  for (const nowMs of [lastMs - 4 * msPerDay, lastMs - 2 * msPerDay]) {
    await withService(newer, nowMs, (marketplace) => createVisit(marketplace, current.keys[0]!));
  }
  for (const copied of [['inventory.json', 'analytics.sqlite'], ['inventory.json'], ['analytics.sqlite']]) {
    const folder = copyFolder(t, newer);
    replaceKeyFile(folder);
    for (const name of ['inventory.json', 'analytics.sqlite']) removeDatabase(folder, name);
    for (const name of copied) cpSync(join(older.folder, name), join(folder, name));
    const createKey = ['keys', 'create', '--account', 'new', '--vertical', 'personal-loans', '--mode', 'live'];
    assert.match((await runMarketplace(createKey, { SVC_DATA_DIR: folder })).stderr, isOlder, `${copied}`);
    await assert.rejects(open(folder, lastMs), isOlder, `${copied}`);
  }
});

test('keys repair can be repeated if it was interrupted before the inventory was written', async (t) => {
  for (const damage of [replaceKeyFile, (folder: string) => removeDatabase(folder, 'keys.sqlite')]) {
    const folder = copyFolder(t, current.folder);
    damage(folder);
    // A folder with the name of the temporary file prevents the write.
    mkdirSync(join(folder, 'inventory.json.new'));
    const repair = () => runMarketplace(['keys', 'repair', '--yes'], { SVC_DATA_DIR: folder });
    assert.notEqual((await repair()).code, 0);
    rmSync(join(folder, 'inventory.json.new'), { recursive: true });
    assert.deepEqual(await repair().then(({ code, stderr }) => [code, stderr.includes('move it away')]), [0, false]);
    await withService(folder, current.endMs, () => {});
  }
});
