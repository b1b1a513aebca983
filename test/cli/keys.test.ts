import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { marketplaceOnFreshFolder } from './support.ts';

const acmeTest = ['keys', 'create', '--account', 'acme', '--vertical', 'personal-loans', '--mode', 'test'];
const keyPattern = /^svc_pl_test_[0-9a-f]{48}\n$/;

test('create prints the key on standard output and the talk on standard error', async (t) => {
  const { run } = marketplaceOnFreshFolder(t);
  const { code, stdout, stderr } = await run(...acmeTest);
  assert.equal(code, 0);
  assert.match(stdout, keyPattern);
  assert.match(stderr, /not shown again/);
  assert(!stderr.includes(stdout.trim()));
});

test('create --raw prints the key alone', async (t) => {
  const { run } = marketplaceOnFreshFolder(t);
  await run(...acmeTest);
  const { code, stdout, stderr } = await run(...acmeTest, '--raw');
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, keyPattern);
});

test('create says where it made a key file, and that a vertical is not served', async (t) => {
  const { run } = marketplaceOnFreshFolder(t);
  const first = await run(...acmeTest, '--raw');
  assert.match(first.stderr, /^This made the key file .*keys\.sqlite: .*\(SVC_DATA_DIR\)\.\n$/);
  const other = await run('keys', 'create', '--account', 'acme', '--vertical', 'mortgage', '--mode', 'test', '--raw');
  assert.match(other.stderr, /^No server of this version serves mortgage, .*\n$/);
});

test('create --json prints the key with all about it', async (t) => {
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

test('a key can be issued for a vertical that is not served yet', async (t) => {
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

test('keys created by several processes at once on a fresh folder are all there', async (t) => {
  const { run, runInOwnProcess } = marketplaceOnFreshFolder(t);
  const created = await Promise.all(Array.from({ length: 4 }, () => runInOwnProcess(...acmeTest, '--raw')));
  assert.deepEqual(
    created.map(({ code, stderr }) => [code, stderr.replace(/^This made the key file .*\n/, '')]),
    created.map(() => [0, '']),
  );
  const { stdout } = await run('keys', 'list', '--json');
  assert.equal(JSON.parse(stdout).length, 4);
});

test('list shows every key, the revoked too, and never the key itself', async (t) => {
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

test('list on a folder without keys says so on standard error, and creates nothing', async (t) => {
  const { run, folder } = marketplaceOnFreshFolder(t);
  const { code, stdout, stderr } = await run('keys', 'list');
  assert.deepEqual([code, stdout], [0, '']);
  assert.match(stderr, /no keys/);
  assert.equal((await run('keys', 'list', '--json')).stdout, '[]\n');
  assert(!existsSync(folder));
});

test('output to a pipe has no colours', async (t) => {
  const { run } = marketplaceOnFreshFolder(t);
  await run(...acmeTest);
  for (const { stdout } of [await run('keys', 'list'), await run('--help')]) assert(!stdout.includes('\u001b'));
});

test('revoking again succeeds and says so', async (t) => {
  const { run } = marketplaceOnFreshFolder(t);
  const { id } = JSON.parse((await run(...acmeTest, '--json')).stdout);
  await run('keys', 'revoke', id);
  const { code, stdout } = await run('keys', 'revoke', id);
  assert.deepEqual([code, stdout], [0, `${id} was revoked before\n`]);
});

test('revoking what is no id fails without repeating it: it may be a key', async (t) => {
  const { run } = marketplaceOnFreshFolder(t);
  const key = (await run(...acmeTest, '--raw')).stdout.trim();
  const { code, stdout, stderr } = await run('keys', 'revoke', key);
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /^marketplace: no key has this id[^\n]*\n$/);
});

for (const [what, args] of [
  ['an expiry in the past', ['--expires', '2020-01-01']],
  ['an expiry that is no moment', ['--expires', 'soon']],
  ['a limit of zero', ['--requests-per-minute', '0']],
  ['a limit that is no whole number', ['--sessions-per-day', '1e3']],
  ['a limit beyond the largest', ['--analytics-per-minute', '1000001']],
  ['two forms of output', ['--raw', '--json']],
  ['an unknown vertical', ['--vertical', 'boat-loans']],
  ['an unknown mode', ['--mode', 'prod']],
  ['an account name that cannot be printed', ['--account', 'a\u0007b']],
] as const) {
  test(`create refuses ${what} as a usage error, and issues nothing`, async (t) => {
    const { run, folder } = marketplaceOnFreshFolder(t);
    const { code, stdout, stderr } = await run(...acmeTest, ...args);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^marketplace: |^\{"error":\{"exit_code":2,/);
    assert(!existsSync(folder));
  });
}

for (const missing of ['--account', '--vertical', '--mode']) {
  test(`create does not do without ${missing}`, async (t) => {
    const { run } = marketplaceOnFreshFolder(t);
    const at = acmeTest.indexOf(missing);
    const { code, stderr } = await run(...acmeTest.toSpliced(at, 2));
    assert.equal(code, 2);
    assert(stderr.includes(missing));
  });
}
