import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { marketplaceOnFreshFolder } from './support.ts';

const shop = 'https://shop.example';
const local = 'http://localhost:3000';
const forAcme = ['--account', 'acme'];

/** Command line on a folder in which the account `acme` has a key. */
async function withAcme(t: TestContext) {
  const { run, runInOwnProcess } = marketplaceOnFreshFolder(t);
  const { code } = await run('keys', 'create', ...forAcme, '--vertical', 'personal-loans', '--mode', 'test', '--raw');
  assert.equal(code, 0);
  return { run, runInOwnProcess };
}

test('allow prints each origin, new or allowed before', async (t) => {
  const { run } = await withAcme(t);
  const first = await run('origins', 'allow', ...forAcme, shop);
  assert.deepEqual(first, { code: 0, stdout: `allowed ${shop}\n`, stderr: '' });
  const second = await run('origins', 'allow', ...forAcme, shop, local);
  assert.deepEqual(second, { code: 0, stdout: `${shop} was allowed before\nallowed ${local}\n`, stderr: '' });
});

test('list prints accounts and origins as a table and as JSON', async (t) => {
  const { run } = await withAcme(t);
  await run('origins', 'allow', ...forAcme, shop, local);
  const listed = await run('origins', 'list');
  assert.deepEqual(listed, {
    code: 0,
    stdout: `ACCOUNT  ORIGIN\nacme     ${local}\nacme     ${shop}\n`,
    stderr: '',
  });
  const asJson = await run('origins', 'list', ...forAcme, '--json');
  assert.deepEqual(JSON.parse(asJson.stdout), [
    { account: 'acme', origin: local },
    { account: 'acme', origin: shop },
  ]);
});

test('remove prints origins that were not on the list, and what an empty list means', async (t) => {
  const { run } = await withAcme(t);
  await run('origins', 'allow', ...forAcme, shop, local);
  const some = await run('origins', 'remove', ...forAcme, local, local);
  assert.deepEqual(some, { code: 0, stdout: `removed ${local}\n${local} was not allowed\n`, stderr: '' });
  const last = await run('origins', 'remove', ...forAcme, shop);
  assert.deepEqual([last.code, last.stdout], [0, `removed ${shop}\n`]);
  assert.match(last.stderr, /empty now: .*live keys may not be embedded anywhere.*test.*everywhere/);
  assert.equal((await run('origins', 'list', '--json')).stdout, '[]\n');
});

test('list creates nothing in a folder without keys', async (t) => {
  const { run, folder } = marketplaceOnFreshFolder(t);
  const { code, stdout, stderr } = await run('origins', 'list');
  assert.deepEqual([code, stdout], [0, '']);
  assert.match(stderr, /^No origins are allowed\./);
  assert(!existsSync(folder));
});

for (const args of [
  ['allow', '--account', 'acmee', shop],
  ['remove', '--account', 'acmee', shop],
  ['list', '--account', 'acmee'],
]) {
  test(`${args[0]} refuses an unknown account and changes nothing`, async (t) => {
    const { run } = await withAcme(t);
    const { code, stdout, stderr } = await run('origins', ...args);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^marketplace: unknown account[^\n]*\n$/);
    assert.equal((await run('origins', 'list', '--json')).stdout, '[]\n');
  });
}

test('allow requires a key file', async (t) => {
  const { run, folder } = marketplaceOnFreshFolder(t);
  const { code, stderr } = await run('origins', 'allow', ...forAcme, shop);
  assert.equal(code, 1);
  assert.match(stderr, /^marketplace: [^\n]*create a key first\n$/);
  assert(!existsSync(folder));
});

for (const command of ['allow', 'remove']) {
  test(`${command} refuses all origins if one is invalid, and suggests the correct one`, async (t) => {
    const { run } = await withAcme(t);
    const { code, stdout, stderr } = await run('origins', command, ...forAcme, local, 'https://Shop.Example/offers');
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(
      stderr,
      /^marketplace: origin 2 of 2 is invalid\. Write https:\/\/shop\.example, which is what a browser sends\.\n/,
    );
    assert.match(stderr, new RegExp(`Try: marketplace origins ${command} --help`));
    assert.equal((await run('origins', 'list', '--json')).stdout, '[]\n');
  });

  test(`${command} needs an account and an origin`, async (t) => {
    const { run } = await withAcme(t);
    for (const args of [[shop], [...forAcme]]) assert.equal((await run('origins', command, ...args)).code, 2);
  });
}

test('allow does not repeat an invalid origin, which may be a key or contain control characters', async (t) => {
  const { run } = await withAcme(t);
  for (const pasted of ['svc_pl_live_0123456789abcdef', '\u001b[2Jhttps://shop.example/0123']) {
    const { code, stderr } = await run('origins', 'allow', ...forAcme, pasted);
    assert.equal(code, 2);
    assert(!stderr.includes('0123') && !stderr.includes('\u001b'), stderr);
  }
});

test('several processes can allow origins at once', async (t) => {
  const { run, runInOwnProcess } = await withAcme(t);
  const origins = Array.from({ length: 4 }, (_, n) => `https://${n}.example.com`);
  const ran = await Promise.all(origins.map((origin) => runInOwnProcess('origins', 'allow', ...forAcme, origin)));
  assert.deepEqual(
    ran,
    origins.map((origin) => ({ code: 0, stdout: `allowed ${origin}\n`, stderr: '' })),
  );
  assert.equal(JSON.parse((await run('origins', 'list', '--json')).stdout).length, 4);
});
