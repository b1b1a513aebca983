import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { type TestContext, test } from 'node:test';
import { operatorTokenPath, readOperatorToken } from '../../src/auth/operator-token.ts';
import { lockFolder } from '../../src/files/folder-lock.ts';
import { createMarketplace } from '../../src/index.ts';
import { ok } from '../embedded/embedded-marketplace.ts';
import { ApiCaller } from '../support/api-caller.ts';
import { HttpClient } from '../support/http-client.ts';
import { runAfterTest } from '../support/run-after-test.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import { assertFailed, runMarketplace } from './run-marketplace.ts';
import { type LogLine, ServedProcess } from './served-process.ts';

const shardCount = 3;
const shardNumbers = [0, 1, 2];

/** Runs a service with three shards, and waits until all have started. */
async function serveShards(t: TestContext, folder: string, settings: Readonly<Record<string, string>> = {}) {
  const served = new ServedProcess(t, { SVC_DATA_DIR: folder, SVC_SHARDS: String(shardCount), ...settings });
  // The shards use the folder until they have ended, which closes their output.
  runAfterTest(t, () => served.stop());
  const operations = await served.client(t, 'operations');
  await served.logged('shards started');
  /** Sends a GET request, or a POST request with a JSON body. */
  const askOperator = async (path: string, json?: unknown) => {
    const token = readOperatorToken(operatorTokenPath(folder));
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const sent = json === undefined ? {} : { method: 'POST', body: JSON.stringify(json) };
    const { status, text } = await operations.send({ path, headers, ...sent });
    assert.ok(status === 200 || status === 201, text);
    return JSON.parse(text);
  };
  return { served, operations, askOperator };
}

async function readiness(operations: HttpClient) {
  const { status, text } = await operations.send({ path: '/readyz' });
  return { status, ...JSON.parse(text) };
}

/** Returns the IDs of the child processes of a supervisor, by shard. */
function findShardProcesses(supervisor: number): Map<number, number> {
  const children = readFileSync(`/proc/${supervisor}/task/${supervisor}/children`, 'utf8').trim().split(' ');
  return new Map(
    children.map((pid) => {
      const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return [Number(args[args.indexOf('--shard') + 1]), Number(pid)];
    }),
  );
}

const shardsOf = (lines: readonly LogLine[], msg: string) =>
  lines.flatMap((line) => (line.msg === msg ? [line.shard] : [])).sort();

test('a supervisor starts shards, restarts a killed one, and drains all of them', async (t) => {
  const { served, operations, askOperator } = await serveShards(t, temporaryFolder(t));
  const allReady = shardNumbers.map((shard) => ({ shard, status: 'ready' }));
  assert.deepEqual(await readiness(operations), { status: 'ready', shards: allReady });
  assert.deepEqual(shardsOf(served.log, 'service started'), shardNumbers);
  assert.equal(served.printed.filter((line) => line.startsWith('serving ')).length, 1);

  const { text: metrics } = await operations.send({ path: '/metrics' });
  assert.equal(metrics.match(/^# TYPE marketplace_ready gauge$/gm)?.length, 1);
  assert.match(metrics, /^marketplace_ready\{shard="2"\} 1$/m);
  assert.match(metrics, /^marketplace_build_info\{shard="1",version="/m);
  const status = await askOperator('/status');
  assert.deepEqual(
    status.shards.map(({ shard }: { shard: number }) => shard),
    shardNumbers,
  );
  const keys = await askOperator('/keys');
  assert.equal(keys.length, 10);
  const page = await askOperator('/keys?limit=1');
  assert.deepEqual([page.data, page.has_more], [[keys[0]], true]);
  assert.deepEqual(await askOperator(`/keys/${keys[0].id}`), keys[0]);

  process.kill(findShardProcesses(served.child.pid!).get(1)!, 'SIGKILL');
  const { shard, signal } = await served.logged('shard ended; restarting');
  assert.deepEqual([shard, signal], [1, 'SIGKILL']);
  const during = await readiness(operations);
  assert.equal(during.status, 'not ready');
  assert.deepEqual(
    during.shards.map((each: { status: string }) => each.status),
    ['ready', 'not ready', 'ready'],
  );
  await served.logged('service started', shardCount);
  while ((await readiness(operations)).status !== 'ready');
  const { text: later } = await operations.send({ path: '/metrics' });
  assert.match(later, /^marketplace_shard_restarts_total\{shard="1"\} 1$/m);

  assert.equal(await served.stop(), 0);
  assert.deepEqual(shardsOf(served.log, 'service stopped'), shardNumbers);
  assert.deepEqual(served.complaints, []);
});

test('shards drain and exit after their supervisor was killed, and a new supervisor takes over', async (t) => {
  const folder = temporaryFolder(t);
  const { served } = await serveShards(t, folder);
  served.signal('SIGKILL');
  // The output of the children ends with them.
  assert.deepEqual(await served.ended, { code: null, signal: 'SIGKILL' });
  assert.deepEqual(shardsOf(served.log, 'service stopped'), shardNumbers);

  const { served: next } = await serveShards(t, folder);
  assertFailed(await runMarketplace(['serve', '--shards', '3'], { SVC_DATA_DIR: folder }), 1, /shards is in use by/);
  assertFailed(await runMarketplace(['serve', '--shards', '2'], { SVC_DATA_DIR: folder }), 1, /shards is in use by/);
  next.signal('SIGTERM');
  next.signal('SIGINT');
  assert.deepEqual((await next.ended).signal, null);
  for (const shards of ['1', '2']) {
    const message =
      /^marketplace: \S+ has 3 shards; start at least as many: marketplace serve --shards 3 \(see SVC_SHARDS\)\n$/;
    const settings = {
      SVC_DATA_DIR: folder,
      SVC_SHARDS: shards,
      SVC_PORT: '0',
      SVC_OPS_PORT: '0',
      SVC_LOG_LEVEL: 'fatal',
    };
    assertFailed(await runMarketplace(['serve'], settings), 1, message);
    const { stderr } = await runMarketplace(['check-config'], settings);
    assert.match(stderr, /^marketplace: warning: The service will not start: \S+ has 3 shards/m);
  }
});

test('the folder of one process becomes shard 0, and other accounts live on other shards', async (t) => {
  const folder = temporaryFolder(t);
  const marketplace = await createMarketplace({ dataDir: folder, urls: { click: 'https://go.example' } });
  runAfterTest(t, () => marketplace.close());
  const { key } = marketplace.keys.create({ account: 'acme', vertical: 'personal-loans', mode: 'live' });
  const partner = marketplace.partnerApi(key);
  const { sub_id: earlierSubId } = ok(await partner.createSession({ referrer_tag: 'hero' }));
  ok(await partner.submitInputs({ sub_id: earlierSubId, fields: fixture.complete }));
  const { offers } = ok(await partner.getMarketplace({ sub_id: earlierSubId }));
  await marketplace.followClick(offers[0]!.click_url);
  const earlierFigures = ok(await partner.queryAnalytics({ referrer_tag: 'hero' }));
  await marketplace.close();

  const { served, askOperator } = await serveShards(t, folder);
  const client = await served.client(t);
  const acme = new ApiCaller(client, 'personal-loans', key);
  assert.deepEqual(await acme.summary({ referrer_tag: 'hero' }), earlierFigures);

  const callers = [acme];
  const keyIds: string[] = [];
  for (const account of ['beta', 'gamma']) {
    const body = { account, vertical: 'personal-loans', mode: 'live', scope: 'full', expires: null };
    const created = await askOperator('/keys', body);
    keyIds.push(created.id);
    callers.push(new ApiCaller(client, 'personal-loans', created.key));
  }
  // Every shard reads new keys once a second.
  for (const { key: newKey } of callers) {
    for (let accepted = 0; accepted < 20; ) {
      const { status } = await requestOnNewConnection(client.port, newKey);
      accepted = status === 200 ? accepted + 1 : 0;
    }
  }
  const rows: object[] = [];
  for (const [shard, caller] of callers.entries()) {
    const { subId, clicked } = await caller.createSessionWithClicks('spread', fixture.complete, 1);
    assert.equal(Number.parseInt(caller.key.split('_').at(-1)!.slice(0, 4), 16), shard);
    rows.push({
      sub_id: subId,
      svc_offer_id: clicked[0]!.svc_offer_id,
      txid: `tx-${shard}`,
      status: 'funded',
      amount: 10,
      occurred_at: new Date().toISOString(),
    });
  }
  const malformed = { ...rows[0], txid: 7 };
  const answer = await askOperator('/confirmations', [...rows, malformed]);
  assert.deepEqual([answer.accepted, answer.rejected, answer.unknown], [3, 1, 0]);
  assert.deepEqual(
    answer.results.map(({ outcome }: { outcome: string }) => outcome),
    ['accepted', 'accepted', 'accepted', 'rejected'],
  );
  assert.equal((await askOperator('/confirmations', rows)).repeated, 3);
  for (const caller of callers) {
    const { offer_clicks: clicks, rev_confirmed: confirmed } = await caller.summary({ referrer_tag: 'spread' });
    assert.deepEqual([clicks, confirmed], [1, 10]);
  }
  for (const id of keyIds) assert.equal((await askOperator(`/keys/${id}`)).usage.sessions_per_day.used, 1);
  const { data: listed } = await askOperator('/catalogs/personal-loans/live/offers?limit=200');
  const totals = listed.map(({ last_30_days: total }: { last_30_days: Totals }) => total) as Totals[];
  assert.equal(
    totals.reduce((total, { offer_clicks: clicks }) => total + clicks, 0),
    4,
  );
  assert.equal(
    totals.reduce((total, { rev_confirmed: confirmed }) => total + confirmed, 0),
    30,
  );
  assert.equal((await askOperator('/status')).sessions.live, 4);
  const { data: uploads } = await askOperator('/confirmations');
  assert.deepEqual(
    uploads.map(({ accepted }: { accepted: number }) => accepted),
    [0, 0, 0, 1, 1, 1],
  );
});

interface Totals {
  readonly offer_clicks: number;
  readonly rev_confirmed: number;
}

/** Sends a request on a new connection, which the kernel assigns to any shard. */
async function requestOnNewConnection(port: number, key: string) {
  const client = new HttpClient(port);
  const answer = await client.send({
    path: '/v1/personal-loans/tags',
    headers: { Authorization: `Bearer ${key}`, Connection: 'close' },
  });
  client.close();
  return answer;
}

test('a second signal ends all shards at once with code 1', async (t) => {
  const folder = temporaryFolder(t);
  const { served } = await serveShards(t, folder, { SVC_DRAIN_DELAY_SECONDS: '600' });
  served.signal('SIGTERM');
  await served.logged('service draining', shardCount - 1);
  served.signal('SIGINT');
  assert.deepEqual(await served.ended, { code: 1, signal: null });
  for (const shard of ['', 'shards/1', 'shards/2']) lockFolder(join(folder, shard)).release();
});

test('a start with shards fails with one line', async (t) => {
  const folder = temporaryFolder(t);
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  runAfterTest(t, () => server.close());
  const { port } = server.address() as AddressInfo;
  const settings = { SVC_DATA_DIR: folder, SVC_SHARDS: '2', SVC_PORT: '0', SVC_OPS_PORT: '0', SVC_LOG_LEVEL: 'fatal' };
  const serve = (more: Readonly<Record<string, string>>) => runMarketplace(['serve'], { ...settings, ...more });
  const used = (name: string) =>
    new RegExp(`^marketplace: ${name} is "${port}"; it must be an unused port \\(EADDRINUSE\\)\\n$`);
  assertFailed(await serve({ SVC_PORT: String(port) }), 1, used('SVC_PORT'));
  assertFailed(await serve({ SVC_OPS_PORT: String(port) }), 1, used('SVC_OPS_PORT'));
  const catalog = join(folder, 'none.json');
  assertFailed(await serve({ SVC_CATALOG: catalog }), 1, /^marketplace: the catalog [^\n]*none\.json[^\n]*\n$/);
  const deep = join(folder, 'a'.repeat(100));
  assertFailed(
    await serve({ SVC_DATA_DIR: deep }),
    1,
    /^marketplace: the path of the data folder [^\n]* is too long for shards[^\n]*\n$/,
  );
  assertFailed(
    await serve({ SVC_TEST_CLOCK: 'on' }),
    1,
    /^marketplace: SVC_SHARDS is "2"; it must be 1 while SVC_TEST_CLOCK is on\n$/,
  );
});
