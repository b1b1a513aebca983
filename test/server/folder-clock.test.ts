import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { bounds } from '../../src/bounds.ts';
import { msPerDay } from '../../src/domain/calendar.ts';
import { readDataInventory } from '../../src/files/data-inventory.ts';
import { readTestClockDays } from '../../src/files/test-clock-file.ts';
import {
  createMarketplace,
  DataMissingError,
  type Marketplace,
  type MarketplaceOptions,
  TestClockMismatchError,
} from '../../src/index.ts';
import { ok } from '../embedded/embedded-marketplace.ts';
import { HttpClient } from '../support/http-client.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { createSelfSignedCertificate, writeCertificate } from '../support/self-signed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

const withClock = /was created with a test clock.*set SVC_TEST_CLOCK=on/;
const withoutClock = /was created without a test clock; use a new data folder/;
const startMs = Date.UTC(2026, 4, 20, 12);

const open = (dataDir: string, testClock: boolean, options: Partial<MarketplaceOptions> = {}): Promise<Marketplace> =>
  createMarketplace({
    dataDir,
    testClock,
    clock: new ManualClock(startMs),
    catalogs: fixture.catalogs,
    urls: { click: 'https://go.example' },
    ...options,
  });

/** Starts a service with a test clock, which is closed at the latest at the end of the test. */
async function start(t: TestContext, dataDir: string, options: Partial<MarketplaceOptions> = {}): Promise<Marketplace> {
  const marketplace = await open(dataDir, true, options);
  runAfterTest(t, () => marketplace.close());
  return marketplace;
}

/** Creates a folder whose test clock was advanced by `days`, in one run for each number. Returns copies of the folder after each run. */
async function createTestFolders(t: TestContext, ...days: readonly number[]): Promise<string[]> {
  const root = temporaryFolder(t);
  const copies: string[] = [];
  for (const [run, count] of days.entries()) {
    const marketplace = await start(t, join(root, 'data'));
    const key = { account: 'rehearsal', vertical: fixture.vertical.segment, mode: 'live' } as const;
    const partner = marketplace.partnerApi(marketplace.keys.create(key).key);
    ok(await marketplace.testClock!.advance(count));
    ok(await partner.createSession({ referrer_tag: 'rehearsal' }));
    await marketplace.close();
    copies.push(join(root, `run-${run}`));
    cpSync(join(root, 'data'), copies[run]!, { recursive: true });
  }
  return copies;
}

test('a folder is served only with the clock with which it was created', async (t) => {
  const [marked] = await createTestFolders(t, 3);
  await assert.rejects(open(marked!, false), TestClockMismatchError);
  const root = temporaryFolder(t);
  const real = join(root, 'real');
  await (await open(real, false)).close();
  const names = readdirSync(real);
  await assert.rejects(open(real, true), withoutClock);
  assert.deepEqual(readdirSync(real), names);
  await (await open(real, false)).close();

  // Any file makes a folder real, also secrets and catalogs.
  for (const name of ['ledger', 'keys.sqlite', 'inventory.json', 'sealed', 'secrets.json', 'catalogs', 'own-name']) {
    const folder = join(root, `only ${name}`);
    mkdirSync(folder);
    writeFileSync(join(folder, name), '{}');
    await assert.rejects(open(folder, true), withoutClock, name);
  }
  // A missing folder, an empty folder, and an empty volume are new.
  const empty = join(root, 'empty');
  mkdirSync(empty);
  const volume = join(root, 'volume');
  mkdirSync(join(volume, 'lost+found'), { recursive: true });
  for (const folder of [join(root, 'missing'), empty, volume]) {
    await (await open(folder, true)).close();
    await assert.rejects(open(folder, false), withClock);
  }
});

test('a first start that fails after the lock and the audit log leaves a marked folder', async (t) => {
  const root = temporaryFolder(t);
  const folder = join(root, 'data');
  const secretFile = join(root, 'not-a-secret.json');
  writeFileSync(secretFile, 'damaged');
  await assert.rejects(open(folder, true, { secretFile }), /not-a-secret/);
  const files = readdirSync(folder).filter((name) => !name.startsWith('audit.sqlite'));
  assert.deepEqual(files.sort(), ['lock', 'test-clock.json']);
  await assert.rejects(open(folder, false), withClock);
});

const damages: readonly (readonly [name: string, damage: (path: string, older: string, other: string) => void])[] = [
  ['missing', (path) => rmSync(path)],
  ['empty', (path) => truncateSync(path)],
  ['truncated', (path) => truncateSync(path, Math.floor(readFileSync(path).length / 2))],
  ['older copy', (path, older) => cpSync(older, path)],
  ['of another folder', (path, _older, other) => cpSync(other, path)],
];

for (const file of ['test-clock.json', 'inventory.json']) {
  test(`whatever state ${file} is in, the folder is marked and its time does not go back`, async (t) => {
    const [older, current] = await createTestFolders(t, 3, 4);
    const [other] = await createTestFolders(t, 1);
    for (const [name, damage] of damages) {
      // An inventory of another folder is refused (test/server/missing-files.test.ts).
      if (file === 'inventory.json' && name === 'of another folder') continue;
      const folder = join(temporaryFolder(t), 'data');
      cpSync(current!, folder, { recursive: true });
      damage(join(folder, file), join(older!, file), join(other!, file));
      await assert.rejects(open(folder, false), withClock, name);
      assert.equal(readTestClockDays(folder), 7, name);
      const marketplace = await start(t, folder);
      assert.equal(marketplace.testClock!.readTime().now, new Date(startMs + 7 * msPerDay).toISOString(), name);
      await marketplace.close();
      // The start has repaired both files.
      for (const each of ['test-clock.json', 'inventory.json']) {
        const copy = join(temporaryFolder(t), 'data');
        cpSync(folder, copy, { recursive: true });
        rmSync(join(copy, each));
        assert.equal(readTestClockDays(copy), 7, `${name}, then without ${each}`);
      }
    }
  });
}

test('a folder of which only the newer test-clock.json was written starts at its time', async (t) => {
  const [older, current] = await createTestFolders(t, 3, 4);
  cpSync(join(current!, 'test-clock.json'), join(older!, 'test-clock.json'));
  const marketplace = await start(t, older!);
  assert.equal(marketplace.testClock!.readTime().advanced_days, 7);
});

const unusableMarks = ['', '{', '[]', '{"advanced_days":-1}', '{"advanced_days":"3"}', ' '.repeat(2_000)];
for (const days of [bounds.testClockDaysMax + 1, 9e15]) unusableMarks.push(`{"advanced_days":${days}}`);

test('a folder whose number of days is lost is refused, so that its time does not go back', async (t) => {
  const [folder] = await createTestFolders(t, 3);
  const [mark, inventory] = [join(folder!, 'test-clock.json'), join(folder!, 'inventory.json')];
  const refused = async (expected: RegExp, name: string) => {
    for (const testClock of [false, true]) {
      const error = await open(folder!, testClock).catch((thrown: unknown) => thrown);
      assert.ok(error instanceof DataMissingError, name);
      assert.match(error.message, expected);
      assert.match(error.message, /^[^\n]*: restore the file, or write it with the number of days [^\n]*$/);
      assert.equal(error.path, mark);
    }
  };
  const text = readFileSync(inventory, 'utf8');
  for (const damaged of [
    text.slice(0, 40),
    text.replace('"advancedDays": 3', `"advancedDays": ${bounds.testClockDaysMax + 1}`),
    text.replace('"advancedDays": 3', '"advancedDays": 9e15'),
  ]) {
    assert.notEqual(damaged, text);
    rmSync(mark);
    writeFileSync(inventory, damaged);
    await refused(/ is missing and inventory\.json is damaged: /, damaged);
    writeFileSync(mark, '{');
    await refused(/ is damaged: /, damaged);
  }
  rmSync(inventory);
  for (const unusable of unusableMarks) {
    writeFileSync(mark, unusable);
    await refused(/ is (damaged|larger than 1024 bytes): /, unusable);
  }
  rmSync(mark);
  mkdirSync(mark);
  await refused(/ is a folder: /, 'folder');
  rmdirSync(mark);
  writeFileSync(mark, '{"advanced_days":3}');
  await (await start(t, folder!)).close();
});

test('a folder with an inventory without a test clock and a test-clock.json is refused both ways', async (t) => {
  const [rehearsal] = await createTestFolders(t, 3);
  const real = join(temporaryFolder(t), 'data');
  await (await open(real, false)).close();
  cpSync(join(rehearsal!, 'test-clock.json'), join(real, 'test-clock.json'));
  const names = readdirSync(real);
  for (const text of ['{"advanced_days":3}', '']) {
    writeFileSync(join(real, 'test-clock.json'), text);
    for (const testClock of [false, true]) {
      await assert.rejects(open(real, testClock), {
        name: 'DataMissingError',
        message: `${real}/test-clock.json does not belong to this data folder, whose inventory.json has no test clock: if the data is real, remove test-clock.json; if the data is rehearsed, restore inventory.json`,
      });
    }
  }
  assert.deepEqual(readdirSync(real), names);
  rmSync(join(real, 'test-clock.json'));
  await (await open(real, false)).close();
});

test('the inventory of a running service contains the new time soon after an advance', async (t) => {
  const folder = join(temporaryFolder(t), 'data');
  const marketplace = await start(t, folder);
  ok(await marketplace.testClock!.advance(5));
  // Without an advance, the service writes the inventory only once per `inventoryWriteIntervalMs`.
  const deadlineMs = Date.now() + bounds.inventoryWriteIntervalMs / 3;
  while (readDataInventory(folder).inventory.testClock?.advancedDays !== 5) {
    assert.ok(Date.now() < deadlineMs, 'the inventory has an earlier time');
    await pause(10);
  }
});

test('the certificate expires by the clock of the machine', async (t) => {
  const root = temporaryFolder(t);
  const clock = new ManualClock(Date.now());
  const tls = writeCertificate(root, createSelfSignedCertificate('one.test', clock.wallMs() + 90 * msPerDay));
  const listen = { engine: 'node', tls } as const;
  const marketplace = await start(t, join(root, 'data'), { listen, clock });
  const operations = new HttpClient(marketplace.ports!.operations, false);
  runAfterTest(t, () => operations.close());
  const readSecondsLeft = async () =>
    Number(
      /^marketplace_certificate_expires_in_seconds (\d+)/m.exec(
        (await operations.send({ path: '/metrics' })).text,
      )?.[1],
    );
  const before = await readSecondsLeft();
  assert.ok(before > 0);
  ok(await marketplace.testClock!.advance(89));
  assert.equal(await readSecondsLeft(), before);
});

test('a service without a test clock writes no mark', async (t) => {
  const folder = join(temporaryFolder(t), 'data');
  await (await open(folder, false)).close();
  assert.equal(existsSync(join(folder, 'test-clock.json')), false);
  assert.equal('testClock' in JSON.parse(readFileSync(join(folder, 'inventory.json'), 'utf8')), false);
  assert.equal(readTestClockDays(folder), null);
});

test('createMarketplace rejects a test clock with a listener that other machines can reach', async (t) => {
  const folder = join(temporaryFolder(t), 'data');
  for (const [listen, name] of [
    [{ host: '0.0.0.0' }, 'listen.host'],
    [{ operationsHost: '::' }, 'listen.operationsHost'],
    [{ operationsHost: '127.example.com' }, 'listen.operationsHost'],
    [{ host: '10.0.0.1', operationsHost: '127.0.0.1' }, 'listen.host'],
  ] as const) {
    await assert.rejects(open(folder, true, { listen }), {
      name: 'RangeError',
      message: `${name} must be a loopback address such as 127.0.0.1 with testClock`,
    });
  }
  await assert.rejects(open(folder, 'on' as unknown as boolean), /testClock must be one of true, false/);
  assert.equal(existsSync(folder), false);
});
