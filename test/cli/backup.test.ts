import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ApiCaller } from '../support/api-caller.ts';
import { HttpClient } from '../support/http-client.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';
import { runMarketplace } from './run-marketplace.ts';
import { marketplaceOnFreshFolder } from './sample-data-folder.ts';
import { serveMarketplace } from './served-process.ts';

const callers = 4;

test('a backup of a server under load contains every write that was acknowledged before the backup', async (t) => {
  const { folder, run } = marketplaceOnFreshFolder(t);
  const key = (
    await run(
      'keys',
      'create',
      '--account',
      'acme',
      '--vertical',
      'personal-loans',
      '--mode',
      'live',
      '--requests-per-minute',
      '1000000',
      '--raw',
    )
  ).stdout.trim();
  const server = await serveMarketplace(folder);
  const http = new HttpClient(server.port);
  const caller = new ApiCaller(http, 'personal-loans', key);
  const tag = 'backed-up';
  const acknowledged: string[] = [];
  let stopped = false;
  const load = Promise.all(
    Array.from({ length: callers }, async () => {
      while (!stopped)
        acknowledged.push((await caller.createSessionWithClicks(tag, personalLoansFixture.complete, 1)).subId);
    }),
  );
  while (acknowledged.length < 20) await new Promise(setImmediate);

  const before = [...acknowledged];
  const target = join(folder, '..', 'backup');
  const backup = await run('backup', target);
  const after = acknowledged.length;
  stopped = true;
  await load;
  await server.stop();
  http.close();
  assert.deepEqual([backup.code, backup.stderr], [0, '']);
  assert.match(backup.stdout, /^copied \d+ records of the ledger/);
  assert.ok(after > before.length, 'nothing happened during the backup');

  const verified = await runMarketplace(['log', 'verify', join(target, 'ledger'), '--json']);
  assert.deepEqual([verified.code, (JSON.parse(verified.stdout) as { tail_bytes: number }).tail_bytes], [0, 0]);
  const restored = await serveMarketplace(target);
  t.after(() => restored.stop());
  const restoredHttp = new HttpClient(restored.port);
  t.after(() => restoredHttp.close());
  const restoredCaller = new ApiCaller(restoredHttp, 'personal-loans', key);
  for (const subId of before) assert.ok((await restoredCaller.offers(subId)).offers.length > 0);
  const { sessions_total: sessions, offer_clicks: clicks } = await restoredCaller.summary({ referrer_tag: tag });
  assert.ok(
    sessions >= before.length && clicks >= before.length,
    `${sessions} sessions, ${clicks} clicks of ${before.length}`,
  );
});

test('only the owner can read the files of a backup, and the target folder must be empty', async (t) => {
  const { folder, run } = marketplaceOnFreshFolder(t);
  const target = mkdtempSync(join(tmpdir(), 'marketplace-backup-'));
  t.after(() => rmSync(target, { recursive: true }));
  assert.match((await run('backup', target)).stderr, /^marketplace: there is no ledger in /);
  await (await serveMarketplace(folder)).stop();
  assert.equal((await run('backup', target)).code, 0);
  for (const name of ['secrets.json', 'keys.sqlite', 'operator-token']) {
    assert.equal(statSync(join(target, name)).mode & 0o077, 0, name);
  }
  const files = readdirSync(target, { recursive: true });
  const second = await run('backup', target);
  assert.deepEqual([second.code, second.stderr], [1, `marketplace: ${target} is not empty\n`]);
  assert.deepEqual(readdirSync(target, { recursive: true }), files);
});

test('the backup command reports an unreadable key file in one line', async (t) => {
  const { folder, run } = marketplaceOnFreshFolder(t);
  await (await serveMarketplace(folder)).stop();
  writeFileSync(join(folder, 'keys.sqlite'), 'no database');
  const { code, stderr } = await run('backup', join(folder, '..', 'backup'));
  assert.equal(code, 1);
  assert.match(stderr, /^marketplace: cannot open the key file [^\n]+\n$/);
});
