import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { marketplaceOnFreshFolder } from './support.ts';

const acmeTest = ['keys', 'create', '--account', 'acme', '--vertical', 'personal-loans', '--mode', 'test'];
const keyPattern = /^svc_pl_test_[0-9a-f]{48}\n$/;

test('create prints the key on standard output and notices on standard error', async (t) => {
  const { run } = marketplaceOnFreshFolder(t);
  const { code, stdout, stderr } = await run(...acmeTest);
  assert.equal(code, 0);
  assert.match(stdout, keyPattern);
  assert.match(stderr, /not shown again/);
  assert(!stderr.includes(stdout.trim()));
});

test('create --raw prints only the key', async (t) => {
  const { run } = marketplaceOnFreshFolder(t);
  await run(...acmeTest);
  const { code, stdout, stderr } = await run(...acmeTest, '--raw');
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, keyPattern);
});

test('create reports a new key file, and a vertical without offers', async (t) => {
  const { run } = marketplaceOnFreshFolder(t);
  const first = await run(...acmeTest, '--raw');
  assert.match(first.stderr, /^Created the key file .*keys\.sqlite\. .*\(SVC_DATA_DIR\) accepts its keys\.\n$/);
  const other = await run('keys', 'create', '--account', 'acme', '--vertical', 'mortgage', '--mode', 'test', '--raw');
  assert.match(other.stderr, /^This version has no offers for mortgage: .*\n$/);
});

test('create --json prints the key and its properties', async (t) => {
  const { run } = marketplaceOnFreshFolder(t);
  const limits = ['--requests-per-minute', '7', '--analytics-per-minute', '6', '--sessions-per-day', '5'];
  const { stdout } = await run(...acmeTest, '--json', '--expires', '2999-12-31', ...limits);
  const { key, id, created_at: createdAt, ...rest } = JSON.parse(stdout);
  assert.match(`${key}\n`, keyPattern);
  assert.match(id, /^key_[0-9a-f]{12}$/);
  assert(!Number.isNaN(Date.parse(createdAt)));
  assert.deepEqual(rest, {
    account: 'acme',
    vertical: 'personal-loans',
    mode: 'test',
    state: 'active',
    expires_at: '3000-01-01T00:00:00.000Z',
    revoked_at: null,
    requests_per_minute: 7,
    analytics_per_minute: 6,
    sessions_per_day: 5,
  });
});

test('create accepts a vertical that is not served yet', async (t) => {
  const { run } = marketplaceOnFreshFolder(t);
  const { stdout } = await run(
    'keys',
    'create',
    '--account',
    'a',
    '--vertical',
    'find-advisor',
    '--mode',
    'live',
    '--raw',
  );
  assert.match(stdout, /^svc_fa_live_[0-9a-f]{48}\n$/);
});

test('several processes can create keys at once in a new folder', async (t) => {
  const { run, runInOwnProcess } = marketplaceOnFreshFolder(t);
  const created = await Promise.all(Array.from({ length: 4 }, () => runInOwnProcess(...acmeTest, '--raw')));
  assert.deepEqual(
    created.map(({ code, stderr }) => [code, stderr.replace(/^Created the key file .*\n/, '')]),
    created.map(() => [0, '']),
  );
  const { stdout } = await run('keys', 'list', '--json');
  assert.equal(JSON.parse(stdout).length, 4);
});

test('list prints all keys by id, including revoked ones', async (t) => {
  const { run } = marketplaceOnFreshFolder(t);
  const first = JSON.parse((await run(...acmeTest, '--json')).stdout);
  const second = JSON.parse((await run(...acmeTest, '--json')).stdout);
  const revoked = await run('keys', 'revoke', first.id);
  assert.deepEqual([revoked.code, revoked.stdout], [0, `revoked ${first.id}\n`]);

  const listed = await run('keys', 'list');
  const lines = listed.stdout.trimEnd().split('\n');
  assert.equal(lines.length, 3);
  assert.match(lines[1] ?? '', new RegExp(`^${first.id} .*\\brevoked\\b`));
  assert.match(lines[2] ?? '', new RegExp(`^${second.id} .*\\bactive\\b`));

  const asJson = await run('keys', 'list', '--json');
  const { key: firstKey, ...firstRest } = first;
  const { key: secondKey, ...secondRest } = second;
  const [firstListed, secondListed] = JSON.parse(asJson.stdout);
  assert.deepEqual({ ...firstListed, state: 'active', revoked_at: null }, firstRest);
  assert.deepEqual([firstListed.state, typeof firstListed.revoked_at], ['revoked', 'string']);
  assert.deepEqual(secondListed, secondRest);
  for (const { stdout } of [listed, asJson]) assert(!stdout.includes(firstKey) && !stdout.includes(secondKey));
});

test('list creates nothing in a folder without keys', async (t) => {
  const { run, folder } = marketplaceOnFreshFolder(t);
  const { code, stdout, stderr } = await run('keys', 'list');
  assert.deepEqual([code, stdout], [0, '']);
  assert.match(stderr, /no keys/);
  assert.equal((await run('keys', 'list', '--json')).stdout, '[]\n');
  assert(!existsSync(folder));
});

test('revoke succeeds for a revoked key', async (t) => {
  const { run } = marketplaceOnFreshFolder(t);
  const { id } = JSON.parse((await run(...acmeTest, '--json')).stdout);
  await run('keys', 'revoke', id);
  const { code, stdout } = await run('keys', 'revoke', id);
  assert.deepEqual([code, stdout], [0, `${id} was revoked before\n`]);
});

test('revoke does not repeat an unknown id, which may be a key', async (t) => {
  const { run } = marketplaceOnFreshFolder(t);
  const key = (await run(...acmeTest, '--raw')).stdout.trim();
  const { code, stdout, stderr } = await run('keys', 'revoke', key);
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /^marketplace: no key has this id[^\n]*\n$/);
});

for (const [what, args] of [
  ['an expiry in the past', ['--expires', '2020-01-01']],
  ['an invalid expiry', ['--expires', 'soon']],
  ['a limit of zero', ['--requests-per-minute', '0']],
  ['a limit that is not an integer', ['--sessions-per-day', '1e3']],
  ['a limit above the maximum', ['--analytics-per-minute', '1000001']],
  ['two output formats', ['--raw', '--json']],
  ['an unknown vertical', ['--vertical', 'boat-loans']],
  ['an unknown mode', ['--mode', 'prod']],
  ['an unprintable account name', ['--account', 'a\u0007b']],
] as const) {
  test(`create refuses ${what} as a usage error and creates nothing`, async (t) => {
    const { run, folder } = marketplaceOnFreshFolder(t);
    const { code, stdout, stderr } = await run(...acmeTest, ...args);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^marketplace: |^\{"error":\{"exit_code":2,/);
    assert(!existsSync(folder));
  });
}

for (const missing of ['--account', '--vertical', '--mode']) {
  test(`create requires ${missing}`, async (t) => {
    const { run } = marketplaceOnFreshFolder(t);
    const { code, stderr } = await run(...acmeTest.toSpliced(acmeTest.indexOf(missing), 2));
    assert.equal(code, 2);
    assert(stderr.includes(missing));
  });
}
