import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { bounds } from '../../src/bounds.ts';
import { logIn, loginPath, sendAsPage, sendLogin } from '../contract/console-support.ts';
import { assertError, assertOk } from '../support/api-caller.ts';
import { assertFailed } from './run-marketplace.ts';
import { createKey, marketplaceOnFreshFolder } from './sample-data-folder.ts';
import { ServedProcess } from './served-process.ts';

const createAcme = 'keys create --account acme --vertical personal-loans --mode test'.split(' ');
const keyPattern = /^svc_pl_test_[0-9a-f]{48}\n$/;

test('create prints the key to standard output, and prints notices to standard error', async (t) => {
  const { run } = marketplaceOnFreshFolder(t);
  const { code, stdout, stderr } = await run(...createAcme);
  assert.equal(code, 0);
  assert.match(stdout, keyPattern);
  assert.match(stderr, /^Created the key file .*keys\.sqlite\. .*\(SVC_DATA_DIR\) accepts its keys\.\n/);
  assert.match(stderr, /not shown again/);
  assert(!stderr.includes(stdout.trim()));
  const raw = await run(...createAcme, '--raw');
  assert.deepEqual([raw.code, raw.stderr], [0, '']);
  assert.match(raw.stdout, keyPattern);
});

test('create --json prints the key and its properties', async (t) => {
  const { run } = marketplaceOnFreshFolder(t);
  const limits = ['--requests-per-minute', '7', '--analytics-per-minute', '6', '--sessions-per-day', '5'];
  const { stdout } = await run(...createAcme, '--json', '--expires', '2999-12-31', ...limits);
  const { key, id, created_at: createdAt, ...rest } = JSON.parse(stdout);
  assert.match(`${key}\n`, keyPattern);
  assert.match(id, /^key_[0-9a-f]{12}$/);
  assert(!Number.isNaN(Date.parse(createdAt)));
  assert.deepEqual(rest, {
    account: 'acme',
    vertical: 'personal-loans',
    mode: 'test',
    scope: 'full',
    state: 'active',
    expires_at: '3000-01-01T00:00:00.000Z',
    revoked_at: null,
    requests_per_minute: 7,
    analytics_per_minute: 6,
    sessions_per_day: 5,
  });
});

test('create --scope analytics creates a read-only key, and list shows the scope of each key', async (t) => {
  const { run } = marketplaceOnFreshFolder(t);
  const reader = await run(...createAcme, '--scope', 'analytics');
  assert.match(reader.stdout, keyPattern);
  assert.match(reader.stderr, /for personal-loans with scope analytics;/);
  assert.equal(JSON.parse((await run(...createAcme, '--scope', 'full', '--json')).stdout).scope, 'full');
  const wrong = await run(...createAcme, '--scope', 'analytic');
  assertFailed(wrong, 2, /'--scope <scope>'.*Allowed choices are full, analytics\. Did you mean analytics\?\n/);
  const [head, first, second] = (await run('keys', 'list')).stdout.split('\n');
  assert.match(head ?? '', / MODE +SCOPE +STATE /);
  assert.match(first ?? '', / test +analytics +active /);
  assert.match(second ?? '', / test +full +active /);
  const listed: { scope: string }[] = JSON.parse((await run('keys', 'list', '--json')).stdout);
  assert.deepEqual(
    listed.map(({ scope }) => scope),
    ['analytics', 'full'],
  );
});

test('several processes can concurrently create keys and allow origins in a new folder', async (t) => {
  const { run, runInOwnProcess } = marketplaceOnFreshFolder(t);
  const created = await Promise.all(Array.from({ length: 3 }, () => runInOwnProcess(...createAcme, '--raw')));
  for (const { code, stderr } of created) {
    assert.deepEqual([code, stderr.replace(/^Created the key file .*\n/, '')], [0, '']);
  }
  assert.equal(JSON.parse((await run('keys', 'list', '--json')).stdout).length, 3);
  const origins = ['https://0.example.com', 'https://1.example.com', 'https://2.example.com'];
  const allow = ['origins', 'allow', '--account', 'acme'];
  const allowed = await Promise.all(origins.map((origin) => runInOwnProcess(...allow, origin)));
  for (const ran of allowed) assert.deepEqual([ran.code, ran.stderr], [0, '']);
  assert.equal(JSON.parse((await run('origins', 'list', '--json')).stdout).length, 3);
});

test('keys list prints all API keys in the order of their ids, including revoked keys', async (t) => {
  const { run } = marketplaceOnFreshFolder(t);
  const first = JSON.parse((await run(...createAcme, '--json')).stdout);
  const second = JSON.parse((await run(...createAcme, '--json')).stdout);
  const revoked = await run('keys', 'revoke', first.id);
  assert.deepEqual([revoked.code, revoked.stdout], [0, `revoked ${first.id}\n`]);
  const again = await run('keys', 'revoke', first.id);
  assert.deepEqual([again.code, again.stdout], [0, `${first.id} was revoked before\n`]);

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

test('the command keys list creates no files in a folder without keys', async (t) => {
  const { run, folder } = marketplaceOnFreshFolder(t);
  const { code, stdout, stderr } = await run('keys', 'list');
  assert.deepEqual([code, stdout], [0, '']);
  assert.match(stderr, /no keys/);
  assert.equal((await run('keys', 'list', '--json')).stdout, '[]\n');
  assert(!existsSync(folder));
});

test('the error of revoke for an unknown id does not contain the id, which may be an API key', async (t) => {
  const { run } = marketplaceOnFreshFolder(t);
  const key = (await run(...createAcme, '--raw')).stdout.trim();
  assertFailed(await run('keys', 'revoke', key), 1, /^marketplace: unknown key id[^\n]*\n$/);
});

test('a running server ends the console logins of a key that another process revokes', async (t) => {
  const { folder, runInOwnProcess } = marketplaceOnFreshFolder(t);
  const [revoked, kept] = [await createKey(folder), await createKey(folder)];
  const http = await new ServedProcess(t, { SVC_DATA_DIR: folder }).client(t);
  const [ended, other] = [await logIn(http, { key: revoked.key }), await logIn(http, { key: kept.key })];
  const describeLogin = (cookie: string) => sendAsPage(http, { path: loginPath }, cookie);
  assertOk(await describeLogin(ended));
  assert.equal((await runInOwnProcess('keys', 'revoke', revoked.id)).code, 0);
  while ((await describeLogin(ended)).status === 200) await pause(bounds.unknownApiKeyPollIntervalMs);
  assertError(await describeLogin(ended), 'LOGIN_REQUIRED');
  assertError(await sendLogin(http, { key: revoked.key }), 'LOGIN_FAILED');
  assertOk(await describeLogin(other));
});
