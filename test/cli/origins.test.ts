import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { assertFailed } from './run-marketplace.ts';
import { createKey, marketplaceOnFreshFolder } from './sample-data-folder.ts';

const shop = 'https://shop.example';
const local = 'http://localhost:3000';
const forAcme = ['--account', 'acme'];

/** Command line on a folder in which the account `acme` has a key. `list` returns the allowed origins. */
async function withAcme(t: TestContext) {
  const { folder, run } = marketplaceOnFreshFolder(t);
  await createKey(folder);
  const list = async (...args: string[]) => JSON.parse((await run('origins', 'list', ...args, '--json')).stdout);
  return { run, list };
}

test('allow and remove print the outcome for each origin of a known account, and list prints all allowed origins', async (t) => {
  const { run, list } = await withAcme(t);
  const first = await run('origins', 'allow', ...forAcme, shop);
  assert.deepEqual(first, { code: 0, stdout: `allowed ${shop}\n`, stderr: '' });
  const second = await run('origins', 'allow', ...forAcme, shop, local);
  assert.deepEqual(second, { code: 0, stdout: `${shop} was allowed before\nallowed ${local}\n`, stderr: '' });

  const stdout = `ACCOUNT  ORIGIN\nacme     ${local}\nacme     ${shop}\n`;
  assert.deepEqual(await run('origins', 'list'), { code: 0, stdout, stderr: '' });
  assert.deepEqual(await list(...forAcme), [
    { account: 'acme', origin: local },
    { account: 'acme', origin: shop },
  ]);

  const some = await run('origins', 'remove', ...forAcme, local, local);
  assert.deepEqual(some, { code: 0, stdout: `removed ${local}\n${local} was not allowed\n`, stderr: '' });
  const last = await run('origins', 'remove', ...forAcme, shop);
  assert.deepEqual([last.code, last.stdout], [0, `removed ${shop}\n`]);
  assert.match(last.stderr, /empty now: .*live keys may not be embedded anywhere.*test.*everywhere/);
  assertFailed(await run('origins', 'allow', '--account', 'acmee', shop), 1, /^marketplace: unknown account[^\n]*\n$/);
  assert.deepEqual(await list(), []);
});

test('the commands origins list and origins allow create no files in a folder without keys', async (t) => {
  const { run, folder } = marketplaceOnFreshFolder(t);
  const listed = await run('origins', 'list');
  assert.deepEqual([listed.code, listed.stdout], [0, '']);
  assert.match(listed.stderr, /^No origins are allowed\./);
  assertFailed(await run('origins', 'allow', ...forAcme, shop), 1, /^marketplace: [^\n]*create a key first\n$/);
  assert(!existsSync(folder));
});

for (const command of ['allow', 'remove']) {
  test(`the command origins ${command} changes nothing if one of the origins is invalid, and suggests the correct origin`, async (t) => {
    const { run, list } = await withAcme(t);
    const invalid = await run('origins', command, ...forAcme, local, 'https://Shop.Example/offers');
    const message = 'origin 2 of 2 is invalid. Use https://shop.example, the origin that browsers send.';
    const stderr = `marketplace: ${message}\nTry: marketplace origins ${command} --help\n`;
    assert.deepEqual(invalid, { code: 2, stdout: '', stderr });
    // The error does not contain the invalid origin, which may be an API key or contain control characters.
    for (const pasted of ['svc_pl_live_0123456789abcdef', '\u001b[2Jhttps://shop.example/0123']) {
      const ran = await run('origins', command, ...forAcme, pasted);
      assert.equal(ran.code, 2);
      assert(!ran.stderr.includes('0123') && !ran.stderr.includes('\u001b'), ran.stderr);
    }
    assert.deepEqual(await list(), []);
  });
}
