import assert from 'node:assert/strict';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { operatorTokenPath, readOperatorToken } from '../../src/auth/operator-token.ts';
import { bounds } from '../../src/bounds.ts';
import { daysSinceEpoch, formatIsoDate, msPerDay } from '../../src/domain/calendar.ts';
import { readDataInventory } from '../../src/files/data-inventory.ts';
import { lockFolder } from '../../src/files/folder-lock.ts';
import { readTestClockDays, writeTestClockDays } from '../../src/files/test-clock-file.ts';
import { createMarketplace } from '../../src/index.ts';
import type { TestClockTime } from '../../src/operations/advance-clock.ts';
import { ok } from '../embedded/embedded-marketplace.ts';
import { ApiCaller } from '../support/api-caller.ts';
import { HttpClient } from '../support/http-client.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import { runMarketplace } from './run-marketplace.ts';
import { ServedProcess } from './served-process.ts';

const daysAhead = 40;
const on = { SVC_TEST_CLOCK: 'on' };
const account = ['--account', 'acme'] as const;
const createKey = ['keys', 'create', ...account, '--vertical', 'personal-loans', '--mode', 'live'] as const;

/** Starts `marketplace serve` with a test clock. */
async function serve(t: TestContext, dataDir: string) {
  const served = new ServedProcess(t, { SVC_DATA_DIR: dataDir, SVC_LOG_LEVEL: 'warn', ...on });
  const ports = await served.ports();
  const [http, operations] = [new HttpClient(ports.public), new HttpClient(ports.operations, false)];
  runAfterTest(t, () => http.close());
  runAfterTest(t, () => operations.close());
  const Authorization = `Bearer ${readOperatorToken(operatorTokenPath(dataDir))}`;
  const readTime = async (): Promise<TestClockTime> =>
    JSON.parse((await operations.send({ path: '/test-clock', headers: { Authorization } })).text);
  const advance = async (days: number): Promise<TestClockTime> => {
    const body = JSON.stringify({ advance_days: days });
    const headers = { Authorization, 'Content-Type': 'application/json', 'Content-Length': String(body.length) };
    const answer = await operations.send({ method: 'POST', path: '/test-clock', headers, body });
    assert.equal(answer.status, 200, answer.text);
    return JSON.parse(answer.text);
  };
  return { served, http, operations, readTime, advance };
}

/** Creates a data folder with an older key for ten days, a key and a session, with or without a test clock. Returns the id of the key. */
async function writeFolder(dataDir: string, testClock: boolean): Promise<string> {
  const marketplace = await createMarketplace({ dataDir, testClock, urls: { click: 'https://go.example' } });
  const newKey = { account: 'acme', vertical: 'personal-loans', mode: 'live' } as const;
  marketplace.keys.create({ ...newKey, expiresAt: new Date(Date.now() + 10 * msPerDay) });
  if (testClock) ok(await marketplace.testClock!.advance(daysAhead));
  const { key, id } = marketplace.keys.create(newKey);
  ok(await marketplace.partnerApi(key).createSession({ referrer_tag: 'a-tag' }));
  ok(await marketplace.partnerApi(key).queryAnalytics({ referrer_tag: 'a-tag' }));
  await marketplace.close();
  return id;
}

describe('commands on a folder with a test clock', () => {
  const root = temporaryFolder();
  const today = daysSinceEpoch(Date.now());
  const folders = { rehearsal: join(root, 'rehearsal'), real: join(root, 'real') } as const;
  const keyIds = { rehearsal: '', real: '' };
  before(async () => {
    keyIds.rehearsal = await writeFolder(folders.rehearsal, true);
    keyIds.real = await writeFolder(folders.real, false);
  });
  after(() => rmSync(root, { recursive: true }));

  /** Commands that serve or change the data folder. `KEY` is replaced by the id of the key, and `JOURNAL` by the first log of the journal. */
  const changing: readonly (readonly string[])[] = [
    ['serve'],
    createKey,
    ['keys', 'revoke', 'KEY'],
    ['keys', 'repair', '--yes'],
    ['origins', 'allow', ...account, 'https://www.example.com'],
    ['origins', 'remove', ...account, 'https://www.example.com'],
    ['log', 'repair', '--accept-missing-ledger', '--yes'],
    ['log', 'repair', '--cut', '0000000000000001.log:4096'],
    ['log', 'repair', 'JOURNAL', '--cut', '0000000000000001.log:4096'],
    ['analytics', 'rebuild'],
    ['secret', 'rotate'],
  ];

  for (const command of changing) {
    test(`marketplace ${command.join(' ')} is refused if SVC_TEST_CLOCK does not suit the folder`, async (t) => {
      for (const [name, settings, message] of [
        ['rehearsal', {}, `was created with a test clock, which is ${daysAhead} days ahead; set SVC_TEST_CLOCK=on `],
        ['rehearsal', { SVC_TEST_CLOCK: 'off' }, 'was created with a test clock, '],
        ['real', on, 'was created without a test clock; use a new data folder '],
      ] as const) {
        const folder = join(temporaryFolder(t), 'data');
        cpSync(folders[name], folder, { recursive: true });
        const names = readdirSync(folder);
        const journal = join(folder, 'journal');
        const values: Record<string, string> = { KEY: keyIds[name], JOURNAL: join(journal, readdirSync(journal)[0]!) };
        const words = command.map((word) => values[word] ?? word);
        const ports = { SVC_PORT: '0', SVC_OPS_PORT: '0' };
        const ran = await runMarketplace(words, { SVC_DATA_DIR: folder, ...ports, ...settings });
        assert.deepEqual([ran.code, ran.stdout], [1, ''], ran.stderr);
        assert.match(ran.stderr, /^marketplace: [^\n]+\n$/);
        assert.ok(ran.stderr.startsWith(`marketplace: ${folder} ${message}`), ran.stderr);
        assert.deepEqual(readdirSync(folder), names);
      }
    });
  }

  test('commands that change the folder work with the right SVC_TEST_CLOCK', async (t) => {
    for (const [name, settings] of [
      ['rehearsal', on],
      ['real', {}],
    ] as const) {
      const folder = join(temporaryFolder(t), 'data');
      cpSync(folders[name], folder, { recursive: true });
      for (const command of changing) {
        if (command[0] === 'serve' || command.includes('--cut')) continue;
        const words = command.map((word) => (word === 'KEY' ? keyIds[name] : word));
        const ran = await runMarketplace(words, { SVC_DATA_DIR: folder, ...settings });
        assert.equal(ran.code, 0, `${words.join(' ')}: ${ran.stderr}`);
      }
      assert.equal(readTestClockDays(folder), name === 'real' ? null : daysAhead);
    }
  });

  test('commands that only read need no SVC_TEST_CLOCK, and use the time of the folder', async () => {
    const run = async (...words: readonly string[]) => {
      const ran = await runMarketplace(words, { SVC_DATA_DIR: folders.rehearsal });
      assert.equal(ran.code, 0, ran.stderr);
      return ran.stdout;
    };
    const day = formatIsoDate(today + daysAhead);
    const keys: { state: string; created_at: string }[] = JSON.parse(await run('keys', 'list', '--json'));
    const states = keys.map(({ state, created_at }) => `${state}, created on ${created_at.slice(0, 10)}`);
    assert.deepEqual(states, [`expired, created on ${formatIsoDate(today)}`, `active, created on ${day}`]);
    const summary = JSON.parse(await run('analytics', 'summary', ...account, '--tag', 'a-tag', '--json'));
    assert.deepEqual([summary.sessions_total, summary.date_to], [1, day]);
    await run('tags', ...account);
    await run('log', 'verify');
    const { settings } = JSON.parse(await run('check-config', '--json'));
    assert.deepEqual(settings.SVC_TEST_CLOCK, { value: 'off', from: 'default' });
  });

  test('check-config warns if SVC_TEST_CLOCK does not suit the folder', async () => {
    for (const [name, settings, reason] of [
      ['rehearsal', {}, 'was created with a test clock, '],
      ['real', on, 'was created without a test clock; '],
      ['rehearsal', on, null],
      ['real', {}, null],
    ] as const) {
      const ran = await runMarketplace(['check-config', '--json'], { SVC_DATA_DIR: folders[name], ...settings });
      assert.equal(ran.code, 0, ran.stderr);
      const warnings = JSON.parse(ran.stdout).warnings.join('\n');
      const expected = `The service will not start: ${folders[name]} ${reason}`;
      if (reason === null) assert.doesNotMatch(warnings, /will not start/);
      else assert.ok(warnings.includes(expected), warnings);
    }
  });

  test('a repair keeps the mark, also without the earlier inventory', async (t) => {
    const repairs: readonly (readonly [string, readonly string[]])[] = [
      ['keys.sqlite', ['keys', 'repair']],
      ['ledger', ['log', 'repair', '--accept-missing-ledger']],
      ['journal', ['log', 'repair', '--accept-missing-journal']],
    ];
    for (const [lost, command] of repairs) {
      for (const inventory of ['lost', 'kept']) {
        const folder = join(temporaryFolder(t), 'data');
        cpSync(folders.rehearsal, folder, { recursive: true });
        rmSync(join(folder, lost), { recursive: true });
        if (inventory === 'lost') rmSync(join(folder, 'inventory.json'));
        const ran = await runMarketplace([...command, '--yes'], { SVC_DATA_DIR: folder, ...on });
        assert.equal(ran.code, 0, ran.stderr);
        const { testClock } = readDataInventory(folder).inventory;
        assert.deepEqual(testClock, { advancedDays: daysAhead }, `${command.join(' ')}, inventory ${inventory}`);
      }
    }
  });

  test('an interrupted backup has the mark', async (t) => {
    const root = temporaryFolder(t);
    const [folder, target] = [join(root, 'data'), join(root, 'backup')];
    cpSync(folders.rehearsal, folder, { recursive: true });
    const [segment] = readdirSync(join(folder, 'ledger')).filter((name) => name.endsWith('.log'));
    const path = join(folder, 'ledger', segment!);
    const bytes = readFileSync(path);
    bytes[bytes.length >> 2]! ^= 1;
    writeFileSync(path, bytes);
    const ran = await runMarketplace(['backup', target], { SVC_DATA_DIR: folder });
    assert.notEqual(ran.code, 0);
    assert.equal(existsSync(join(target, 'inventory.json')), false);
    assert.equal(readTestClockDays(target), daysAhead);
  });

  test('keys create compares --expires with the time of the folder', async (t) => {
    const folder = join(temporaryFolder(t), 'data');
    cpSync(folders.rehearsal, folder, { recursive: true });
    const create = (days: number) => {
      const expires = new Date(Date.now() + days * msPerDay).toISOString();
      return runMarketplace([...createKey, '--expires', expires], { SVC_DATA_DIR: folder, ...on });
    };
    assert.match((await create(daysAhead - 1)).stderr, /The expiry must be in the future/);
    assert.equal((await create(daysAhead + 1)).code, 0);
  });

  test('a backup keeps the mark and the time', async (t) => {
    const target = join(temporaryFolder(t), 'backup');
    const backup = await runMarketplace(['backup', target], { SVC_DATA_DIR: folders.rehearsal });
    assert.equal(backup.code, 0, backup.stderr);
    for (const lost of ['', 'test-clock.json', 'inventory.json']) {
      const folder = join(temporaryFolder(t), 'restored');
      cpSync(target, folder, { recursive: true });
      if (lost !== '') rmSync(join(folder, lost));
      assert.equal(readTestClockDays(folder), daysAhead);
      const options = { dataDir: folder, urls: { click: 'https://go.example' } };
      await assert.rejects(createMarketplace(options), /was created with a test clock/);
    }
    const realTarget = join(temporaryFolder(t), 'backup');
    const ofReal = await runMarketplace(['backup', realTarget], { SVC_DATA_DIR: folders.real });
    assert.equal(ofReal.code, 0, ofReal.stderr);
    assert.equal(readTestClockDays(realTarget), null);
  });
});

test('keys create in a new folder creates a folder with a test clock if SVC_TEST_CLOCK is on', async (t) => {
  const folder = join(temporaryFolder(t), 'data');
  const create = (settings: Readonly<Record<string, string>>) =>
    runMarketplace(createKey, { SVC_DATA_DIR: folder, ...settings });
  assert.equal((await create(on)).code, 0);
  assert.match((await create({})).stderr, /was created with a test clock, which is 0 days ahead/);
  assert.equal((await create(on)).code, 0);
  assert.equal(readTestClockDays(folder), 0);
});

test('a repair of an empty folder marks the folder if SVC_TEST_CLOCK is on, and --yes is given', async (t) => {
  for (const command of [
    ['keys', 'repair'],
    ['log', 'repair', '--accept-missing-ledger'],
    ['log', 'repair', '--accept-missing-journal'],
  ]) {
    const folder = temporaryFolder(t);
    const repair = (...options: string[]) => runMarketplace([...command, ...options], { SVC_DATA_DIR: folder, ...on });
    assert.equal((await repair()).code, 0);
    assert.equal(readTestClockDays(folder), null);
    assert.equal((await repair('--yes')).code, 0);
    assert.equal(readTestClockDays(folder), 0, command.join(' '));
    assert.notEqual(readDataInventory(folder).hasTestClock, false);
  }
});

test('keys create does not mark a folder in which a service has just started', async (t) => {
  const folder = temporaryFolder(t);
  const lock = lockFolder(folder);
  runAfterTest(t, () => lock.release());
  const refused = await runMarketplace(createKey, { SVC_DATA_DIR: folder, ...on });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /^marketplace: [^\n]+ is in use by another instance of this service; stop it first\n$/);
  assert.deepEqual(readdirSync(folder), ['lock']);
  // A service with a test clock marks the folder when it starts.
  writeTestClockDays(folder, 0);
  assert.equal((await runMarketplace(createKey, { SVC_DATA_DIR: folder, ...on })).code, 0);
});

test('the banner, the log and /readyz show the time of the test clock', async (t) => {
  const folder = join(temporaryFolder(t), 'data');
  const first = await serve(t, folder);
  const { now } = await first.advance(46);
  assert.equal(await first.served.stop(), 0);
  const served = new ServedProcess(t, { SVC_DATA_DIR: folder, ...on });
  const { operations: port } = await served.ports();
  const { testClock } = await served.logged('service started');
  assert.equal(new Date(String(testClock)).toISOString(), testClock);
  assert.ok(String(testClock) >= now);
  const client = new HttpClient(port, false);
  runAfterTest(t, () => client.close());
  const ready = JSON.parse((await client.send({ path: '/readyz' })).text);
  assert.equal(ready.test_clock.advanced_days, 46);
  const day = now.slice(0, 10);
  assert.match(served.printed.join('\n'), new RegExp(`^TEST CLOCK, not for real traffic: the time is ${day}T`, 'm'));
  assert.equal(await served.stop(), 0);
});

test('after kill -9 during advances, the folder opens at the time before or after, and no session is in the future', async (t) => {
  const folder = join(temporaryFolder(t), 'data');
  const { stdout } = await runMarketplace([...createKey, '--raw'], { SVC_DATA_DIR: folder, ...on });
  let latestMs = 0;
  let advancedDays = 0;
  const outcomes = new Set<boolean>();
  for (let cycle = 0; cycle < 8; cycle++) {
    const { served, http, readTime, advance } = await serve(t, folder);
    const time = await readTime();
    assert.ok(time.advanced_days >= advancedDays, `day ${time.advanced_days} after ${advancedDays}`);
    assert.ok(Date.parse(time.now) >= latestMs, `${time.now} is before an acknowledged session`);
    assert.equal((time.advanced_days - advancedDays) % bounds.testClockDaysPerRequestMax, 0);
    outcomes.add(time.advanced_days > advancedDays);
    advancedDays = time.advanced_days;
    const caller = new ApiCaller(http, fixture.vertical.segment, stdout.trim());
    const createSessions = async () => {
      for (;;) {
        const { expires_at } = await caller.createSession('killed');
        latestMs = Math.max(latestMs, Date.parse(expires_at) - bounds.sessionTtlMs);
      }
    };
    const advanceOften = async () => {
      for (;;) advancedDays = (await advance(bounds.testClockDaysPerRequestMax)).advanced_days;
    };
    const clients = [createSessions(), advanceOften()].map((running) => assert.rejects(running));
    await pause(20 + cycle * 13);
    served.signal('SIGKILL');
    await Promise.all([...clients, served.ended]);
  }
  assert.ok(latestMs > 0);
  const verified = await runMarketplace(['log', 'verify'], { SVC_DATA_DIR: folder });
  assert.equal(verified.code, 0, verified.stderr);
  t.diagnostic(`advances that took effect without an answer: ${outcomes.has(true)}; ${advancedDays} days`);
});
