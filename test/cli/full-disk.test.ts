import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { operatorTokenPath, readOperatorToken } from '../../src/auth/operator-token.ts';
import { openOrCreateSecretFile } from '../../src/secrets/secret-file.ts';
import { ApiCaller, assertError, assertOk } from '../support/api-caller.ts';
import { Scrape } from '../support/scrape.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { totalClickUsd } from '../support/vertical-fixture.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import { runMarketplace } from './run-marketplace.ts';
import { createKey } from './sample-data-folder.ts';
import { ServedProcess } from './served-process.ts';

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const skip = spawnSync('prlimit', ['--version']).status !== 0 && 'the prlimit command is missing';

/** Starts a server in its own process, with an API client and the means to fill its disk. */
async function serve(t: TestContext, folder: string, key: string, engine = 'uws') {
  const served = new ServedProcess(t, { SVC_DATA_DIR: folder, SVC_LISTENER: engine, SVC_LOG_LEVEL: 'silent' }, null);
  const http = await served.client(t);
  const operations = await served.client(t, 'operations');
  const limit = (fileSize: string) => execFileSync('prlimit', [`--pid=${served.child.pid}`, `--fsize=${fileSize}:`]);
  const authorization = () => ({ Authorization: `Bearer ${readOperatorToken(operatorTokenPath(folder))}` });
  return {
    served,
    caller: new ApiCaller(http, fixture.vertical.segment, key),
    /** Reasons why the server is not ready; empty if it is ready. */
    async notReady(): Promise<readonly string[]> {
      const { status, text } = await operations.send({ path: '/readyz' });
      const { reasons = [] } = JSON.parse(text) as { reasons?: string[] };
      assert.equal(status, reasons.length === 0 ? 200 : 503);
      return reasons;
    },
    /** Whether each log can be written, as `GET /status` shows it. */
    async healthOfLogs(): Promise<readonly [ledger: boolean, journal: boolean]> {
      const { ledger, journal } = JSON.parse(
        (await operations.send({ path: '/status', headers: authorization() })).text,
      );
      return [ledger.healthy, journal.healthy];
    },
    /** Response status of creating a key. */
    async statusOfNewKey(): Promise<number> {
      const body = JSON.stringify({ account: 'full', vertical: fixture.vertical.segment, mode: 'live' });
      const headers = {
        ...authorization(),
        'Content-Type': 'application/json',
        'Content-Length': String(body.length),
      };
      return (await operations.send({ method: 'POST', path: '/keys', headers, body })).status;
    },
    metrics: () => Scrape.of(operations),
    /** Limits the size of all files of the process, so that writes fail as on a full disk. */
    fillDisk: (bytesMax: number) => limit(String(bytesMax)),
    freeDisk: () => limit('unlimited'),
  };
}

async function issueKey(t: TestContext): Promise<{ folder: string; key: string }> {
  const folder = temporaryFolder(t);
  return { folder, key: (await createKey(folder)).key };
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
}

test('a full disk causes errors only for requests that wait for a disk write, and only until the disk has space again', {
  skip,
}, async (t) => {
  const { folder, key } = await issueKey(t);
  const server = await serve(t, folder, key);
  const { caller } = server;
  const subId = await caller.createSessionWithFields('full', fixture.complete);
  const [offer, another] = (await caller.offers(subId)).offers;
  assert.ok(offer !== undefined && another !== undefined);
  assert.equal((await caller.summary({ referrer_tag: 'full' })).marketplace_views, 1);
  assert.deepEqual(await server.notReady(), []);

  server.fillDisk(0);
  // The first request has an unknown outcome: its record stays queued, and is written when there is space.
  const session = { referrer_tag: 'full' };
  const idempotency = { 'Idempotency-Key': 'in-doubt' };
  for (const headers of [idempotency, {}, idempotency, {}]) {
    const refusal = await caller.post('session', session, headers);
    assertError(refusal, 'SERVICE_UNAVAILABLE');
    assert.ok(Number(refusal.headers.get('retry-after')) >= 1);
  }
  assert.ok((await server.notReady()).includes('the ledger cannot be written'));
  assert.equal(await server.statusOfNewKey(), 503);
  assert.equal((await caller.offers(subId)).offers[0]?.svc_offer_id, offer.svc_offer_id);
  for (const { click_url } of [offer, another]) assert.equal((await caller.click(click_url)).status, 302);
  const meanwhile = await caller.summary({ referrer_tag: 'full' });
  assert.deepEqual([meanwhile.sessions_total, meanwhile.marketplace_views, meanwhile.offer_clicks], [1, 1, 0]);

  const full = await server.metrics();
  const ledger = { log: 'ledger' };
  assert.equal(full.value('marketplace_ready'), 0);
  assert.equal(full.value('marketplace_log_healthy', ledger), 0);
  // Only the ledger has a record to write.
  assert.equal(full.value('marketplace_log_healthy', { log: 'journal' }), 1);
  assert.deepEqual(await server.healthOfLogs(), [false, true]);
  assert.equal(full.value('marketplace_log_incidents_total', { ...ledger, kind: 'unavailable' }), 1);
  assert.equal(full.value('marketplace_unrecorded_clicks_total'), 2);
  assert.equal(full.value('marketplace_requests_total', { route: 'session', status: '503' }), 4);

  server.freeDisk();
  await until(async () => (await server.notReady()).length === 0);
  assert.equal(await server.statusOfNewKey(), 201);
  const healed = await server.metrics();
  assert.equal(healed.value('marketplace_log_healthy', ledger), 1);
  assert.equal(healed.value('marketplace_log_incidents_total', { ...ledger, kind: 'recovered' }), 1);
  const replayed = await caller.post('session', session, idempotency);
  assertOk(replayed);
  assert.equal(replayed.headers.get('idempotency-replayed'), 'true');
  await caller.createSession('full');
  assert.equal((await caller.click(offer.click_url)).status, 302);
  const assertFigures = async (client: ApiCaller) => {
    const figures = await client.summary({ referrer_tag: 'full' });
    assert.deepEqual([figures.sessions_total, figures.marketplace_views, figures.offer_clicks], [3, 2, 2]);
    assert.equal(figures.rev_attributed, totalClickUsd(fixture, [offer.svc_offer_id, another.svc_offer_id]));
  };
  await assertFigures(caller);
  assert.equal(await server.served.stop(), 0);
  await assertFigures((await serve(t, folder, key)).caller);
});

for (const engine of ['uws', 'node']) {
  test(`on ${engine}, fields submitted while the disk is full cause status 503, but take effect when the disk has free space`, {
    skip,
  }, async (t) => {
    const { folder, key } = await issueKey(t);
    const server = await serve(t, folder, key, engine);
    const { caller } = server;
    const subId = await caller.createSessionWithFields('full', fixture.complete);
    const submit = (fields: object) => caller.post('inputs', { sub_id: subId, fields });
    const shown = async (client: ApiCaller) =>
      (await client.offers(subId)).offers.map((offer) => [offer.svc_offer_id, offer.monthly_payment_estimate]);
    const before = await shown(caller);

    server.fillDisk(0);
    assertError(await submit({ [fixture.amount]: 9_000 }), 'SERVICE_UNAVAILABLE');
    await until(async () => (await server.notReady()).includes('the journal cannot be written'));
    assertError(await submit({ [fixture.amount]: 11_000 }), 'SERVICE_UNAVAILABLE');
    assert.deepEqual(await shown(caller), before);

    server.freeDisk();
    await until(async () => (await server.notReady()).length === 0);
    const healed = await shown(caller);
    assert.notDeepEqual(healed, before);
    assertOk(await submit({ [fixture.term]: fixture.someTerm }));
    const live = await shown(caller);
    assert.notDeepEqual(live, healed);
    server.served.signal('SIGKILL');
    await server.served.ended;
    assert.deepEqual(await shown((await serve(t, folder, key, engine)).caller), live);
  });
}

test('while the disk is too full for the analytics store, sessions can still be created', {
  skip,
}, async (t) => {
  const { folder, key } = await issueKey(t);
  const server = await serve(t, folder, key);
  const { caller } = server;
  await caller.createSession('full');
  // The ledger has preallocated space for these records; the store writes at least one page of this size.
  server.fillDisk(4_096);
  for (let i = 0; i < 5; i++) await caller.createSession('full');
  await until(async () => (await server.notReady()).includes('the aggregator is not running'));
  // The aggregator restarts and fails again and again, so queries are refused.
  assertError(await caller.get('analytics', { referrer_tag: 'full' }), 'SERVICE_UNAVAILABLE');
  await caller.createSession('full');
  const behind = await server.metrics();
  assert.ok(behind.value('marketplace_aggregator_restarts_total') >= 1);
  assert.ok(behind.value('marketplace_analytics_lag_records') >= 1);
  assert.ok(behind.value('marketplace_analytics_lag_seconds') > 0);

  server.freeDisk();
  await until(async () => (await server.notReady()).length === 0);
  assert.equal((await caller.summary({ referrer_tag: 'full' })).sessions_total, 7);
  assert.equal(await server.served.stop(), 0);
});

test('a command reports a full disk in one line that names the folder', { skip }, async (t) => {
  const { folder } = await issueKey(t);
  const secretFile = join(temporaryFolder(t), 'secrets.json');
  openOrCreateSecretFile(secretFile, false);
  const commands = [
    { words: 'keys create --account full --vertical banking --mode live'.split(' '), full: folder },
    { words: ['serve'], full: folder },
    // The entry of the audit log is written before the secret file.
    { words: ['secret', 'rotate'], full: folder },
  ];
  for (const { words, full } of commands) {
    // Too few bytes to create a SQLite database.
    const limited = ['--fsize=16:', process.execPath, main, ...words];
    const settings = { SVC_DATA_DIR: folder, SVC_SECRET_FILE: secretFile };
    const { code, stderr } = await runMarketplace(limited, settings, { command: 'prlimit' });
    assert.equal(code, 1);
    assert.match(stderr, /^marketplace: [^\n]+\n$/);
    assert.ok(stderr.includes(`no space left on the device of ${full}; free some space and try again`), stderr);
  }
});
