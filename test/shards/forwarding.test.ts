import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { hashApiKey } from '../../src/auth/api-key.ts';
import { consoleLoginPath } from '../../src/auth/console-login-file.ts';
import { keyFilePath } from '../../src/auth/key-file.ts';
import { bounds } from '../../src/bounds.ts';
import type { LoanCatalog } from '../../src/verticals/personal-loans/offer-schema.ts';
import { cookieOf, logIn, loginPath, sendAsPage, sendLogin } from '../contract/console-support.ts';
import { RawConnection } from '../http/raw-connection.ts';
import { assertError } from '../support/api-caller.ts';
import { withDailyCap } from '../support/changeable-catalogs.ts';
import type { HttpRequest } from '../support/http-client.ts';
import { ShardGroup } from '../support/shard-group.ts';
import { totalClickUsd } from '../support/vertical-fixture.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';

test('answers the requests of a session, its clicks and its analytics on every shard', async (t) => {
  const group = await ShardGroup.start(t, 2);
  const key = group.issueKey(1);
  const [elsewhere, owner] = [group.caller(key, 0), group.caller(key, 1)];
  const subId = await elsewhere.createSessionWithFields('tag-a', personalLoansFixture.complete);
  const offers = await elsewhere.offers(subId);
  assert.deepEqual(await owner.offers(subId), offers);
  for (const { http } of [group.shard(0), group.shard(1)]) {
    const { pathname, search } = new URL(offers.offers[0]!.click_url);
    const click = await http.send({ path: pathname + search });
    assert.equal(click.status, 302);
  }
  const summary = await elsewhere.summary({ referrer_tag: 'tag-a' });
  assert.deepEqual(await owner.summary({ referrer_tag: 'tag-a' }), summary);
  assert.equal(summary.sessions_total, 1);
  assert.equal(group.shard(0).service.operationDeps.sessions.size, 0);
  assertError(await group.caller(key.replace(/.{4}$/, 'ffff'), 0).get('analytics', {}), 'UNAUTHORIZED');
});

test('both shards log a forwarded request with its ID, and nothing that a client sends makes a request a forwarded one', async (t) => {
  const group = await ShardGroup.start(t, 2);
  const key = group.issueKey(1);
  const headers = { Authorization: `Bearer ${key}`, Forwarded: 'for=0', 'X-Request-Id': 'forged', 'X-Shard': '0' };
  const path = `/v1/${personalLoansFixture.vertical.segment}/tags`;
  const answer = await group.shard(0).http.send({ path, headers });
  assert.equal(answer.status, 200);
  const requestId = answer.headers.get('x-request-id');
  const routes = [0, 1].map((shard) => group.shard(shard).log.filter((line) => line.requestId === requestId));
  assert.deepEqual(
    routes.map((lines) => lines.map(({ route }) => route)),
    [['forwarded'], ['tags']],
  );
});

test('a repeated, encoded or forged sub gets the answer of one process', async (t) => {
  const group = await ShardGroup.start(t, 2);
  const key = group.issueKey(1);
  const subId = await group.caller(key, 1).createSessionWithFields('tag-a', personalLoansFixture.complete);
  const { offers } = await group.caller(key, 1).offers(subId);
  const { search } = new URL(offers[0]!.click_url);
  const encoded = search.replace('sub_', '%73ub_');
  const statuses = async (query: string) =>
    Promise.all([0, 1].map(async (shard) => (await group.shard(shard).http.send({ path: `/c${query}` })).status));
  assert.deepEqual(await statuses(encoded), [302, 302]);
  assert.deepEqual(await statuses(`${search}&sub=${subId}`), [404, 404]);
  assert.deepEqual(await statuses(search.replace(/sub_\w{4}/, 'sub_0000')), [404, 404]);
});

test('an old key whose digits name an account of another shard is forwarded by its hash', async (t) => {
  const group = await ShardGroup.start(t, 2);
  const key = group.issueKey(1);
  const old = key.replace(/_[0-9a-f]{10}(?=[0-9a-f]{38}$)/, '_0000000102');
  const database = new Database(keyFilePath(group.rootDir));
  const hashes = [old, key].map((text) => Buffer.from(hashApiKey(text), 'latin1'));
  assert.equal(database.prepare('UPDATE keys SET hash = ? WHERE hash = ?').run(...hashes).changes, 1);
  database.close();
  group.clock.advance(bounds.unknownApiKeyPollIntervalMs);
  await group.caller(old, 0).createSession('tag-a');
  assert.equal(group.shard(1).service.operationDeps.sessions.size, 1);
});

test('an account that is placed on another shard is forwarded there', async (t) => {
  const group = await ShardGroup.start(t, 2);
  const key = group.issueKey(0);
  const subId = await group.caller(key, 1).createSession('tag-a');
  assert.equal(group.shard(0).service.operationDeps.sessions.size, 1);
  const database = new Database(keyFilePath(group.rootDir));
  database.prepare('INSERT INTO placements (account, vertical_and_mode, shard) VALUES (1, NULL, 1)').run();
  database.close();
  for (const shard of [0, 1]) {
    const answer = () => group.caller(key, shard).get('marketplace', { sub_id: subId.sub_id });
    // The session stays on the earlier shard.
    while ((await answer()).status !== 400) group.clock.advance(1_000);
  }
});

test('requests of a shard that does not run get 503, and are answered after its start', async (t) => {
  const group = await ShardGroup.start(t, 2);
  const [own, others] = [group.issueKey(0), group.issueKey(1)];
  await group.kill(1);
  assertError(await group.caller(others, 0).get('tags', {}), 'SERVICE_UNAVAILABLE');
  assert.equal((await group.caller(own, 0).get('tags', {})).status, 200);
  await group.startShard(1);
  while ((await group.caller(others, 0).get('tags', {})).status !== 200);
});

test('clicks on offers of a shard that does not run redirect, and count once after its start', async (t) => {
  const group = await ShardGroup.start(t, 2);
  const key = group.issueKey(1);
  const subId = await group.caller(key, 1).createSessionWithFields('tag-a', personalLoansFixture.complete);
  const { offers } = await group.caller(key, 1).offers(subId);
  const click = async (index: number) => {
    const { pathname, search } = new URL(offers[index]!.click_url);
    return group.shard(0).http.send({ path: pathname + search });
  };
  assert.equal((await click(0)).status, 302);
  await group.kill(1);
  // The first click is a repeated one.
  for (const index of [0, 1, 1]) {
    const { status, headers } = await click(index);
    assert.equal(status, 302);
    assert.match(headers.get('location')!, /click_id=/);
  }
  await group.startShard(1);
  const caller = group.caller(key, 1);
  const countClicks = async () => (await caller.summary({ referrer_tag: 'tag-a' })).offer_clicks;
  while ((await countClicks()) < 2) group.clock.advance(10_000);
  await group.shard(0).service.close();
  assert.equal(await countClicks(), 2);
  const { data } = await caller.rows({ referrer_tag: 'tag-a' });
  assert.equal(
    data[0]!.rev_attributed,
    totalClickUsd(
      personalLoansFixture,
      offers.slice(0, 2).map((offer) => offer.svc_offer_id),
    ),
  );
});

test('a click whose shard does not run, and whose catalog only that shard has, gets the page that asks again', async (t) => {
  const group = await ShardGroup.start(t, 2);
  const key = group.issueKey(1);
  await group.kill(1);
  const { vertical, catalogFiles } = personalLoansFixture;
  const text = (catalog: LoanCatalog) => JSON.stringify(catalog);
  await group.startShard(1, [
    { vertical, mode: 'live', text: text(withDailyCap(catalogFiles.live, 5)) },
    { vertical, mode: 'test', text: text(catalogFiles.test) },
  ]);
  const subId = await group.caller(key, 1).createSessionWithFields('tag-a', personalLoansFixture.complete);
  const { offers } = await group.caller(key, 1).offers(subId);
  const { pathname, search } = new URL(offers[0]!.click_url);
  const click = () => group.shard(0).http.send({ path: pathname + search });
  while ((await click()).status !== 302);
  await group.kill(1);
  const { status, headers } = await click();
  assert.deepEqual([status, headers.get('refresh')], [503, '1']);
});

test('every kind of request gets the same answer from the shard of the account and from another shard', async (t) => {
  const group = await ShardGroup.start(t, 2);
  const key = group.issueKey(1, { mode: 'test' });
  const subId = await group.caller(key, 1).createSessionWithFields('tag-a', personalLoansFixture.complete);
  const { offers } = await group.caller(key, 1).offers(subId);
  const { pathname, search } = new URL(offers[0]!.click_url);
  const base = `/v1/${personalLoansFixture.vertical.segment}`;
  const json = { 'Content-Type': 'application/json' };
  const requests: readonly HttpRequest[] = [
    ...[
      '/session',
      '/nothing',
      '/openapi.json',
      '/tags?limit=0',
      '/tags',
      `/marketplace?sub_id=${subId}&format=json`,
    ].map((path) => ({ path: base + path })),
    { path: `${base}/marketplace?sub_id=${subId}&format=json`, method: 'HEAD' },
    { path: `${base}/tags`, headers: { Accept: 'text/csv' } },
    { path: `${base}/session`, method: 'OPTIONS' },
    { path: `${base}/session`, method: 'POST', headers: json, body: '{' },
    { path: `${base}/session`, method: 'POST', headers: json, body: 'x'.repeat(bounds.requestBodyBytesMax + 1) },
    { path: `${base}/session`, method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: '{}' },
    { path: `${base}/session`, method: 'POST', headers: { ...json, 'Content-Length': '0' } },
    { path: pathname + search, method: 'HEAD' },
    { path: `${pathname}${search}&offer=x` },
    { path: pathname + search, headers: { Purpose: 'prefetch' } },
    ...['/c', '/c/sandbox', '/c/example', '/w', '/w/', '/w/offers', '/w/widget.js', '/docs', '/console/', '/'].map(
      (path) => ({ path }),
    ),
    { path: '/console/api/login' },
    {
      path: '/console/api/login',
      headers: { Cookie: `svc_console=${'f'.repeat(53)}`, 'Sec-Fetch-Site': 'same-origin' },
    },
    {
      path: '/console/api/login',
      method: 'POST',
      headers: { ...json, 'Sec-Fetch-Site': 'same-origin' },
      body: '{"key":"x"}',
    },
  ];
  // The engine closes the connection after a random selection of responses without a body.
  const changing = /^(date|connection|x-request-id|x-ratelimit-remaining|ratelimit)$/;
  for (const { headers, ...request } of requests) {
    const [first, second] = await Promise.all(
      [0, 1].map(async (shard) => {
        const all = { Authorization: `Bearer ${key}`, ...headers };
        const { status, headers: received, text } = await group.shard(shard).http.send({ ...request, headers: all });
        const body = text.replaceAll(/click_id=[\w-]+/g, '');
        return {
          status,
          headers: [...received].filter(([name]) => !changing.test(name) && name !== 'location'),
          body,
        };
      }),
    );
    assert.deepEqual(first, second, `${request.method ?? 'GET'} ${request.path}`);
  }
});

test('a login with a key of another shard ends the earlier login of the cookie', async (t) => {
  const group = await ShardGroup.start(t, 2);
  const keys = [group.issueKey(0), group.issueKey(1)];
  const { http } = group.shard(0);
  const readLogin = async (cookie: string) => (await sendAsPage(http, { path: loginPath }, cookie)).status;
  let cookie = await logIn(http, { key: keys[0]! });
  for (const key of [keys[1]!, keys[0]!]) {
    const refused = await sendLogin(http, { key: key.replace(/.{4}$/, 'ffff') }, { Cookie: cookie });
    assert.deepEqual([refused.status, await readLogin(cookie)], [401, 200]);
    const next = cookieOf(await sendLogin(http, { key }, { Cookie: cookie }));
    while ((await readLogin(cookie)) !== 401);
    assert.equal(await readLogin(next), 200);
    cookie = next;
  }
});

test('a cookie that an earlier release issued is one of shard 0', async (t) => {
  const group = await ShardGroup.start(t, 2);
  const key = group.issueKey(0);
  await logIn(group.shard(0).http, { key });
  await group.kill(0);
  const token = 'x'.repeat(43);
  const database = new Database(consoleLoginPath(group.rootDir));
  database.prepare('UPDATE logins SET token_hash = ?').run(createHash('sha256').update(token).digest());
  database.close();
  await group.startShard(0);
  const read = () => sendAsPage(group.shard(1).http, { path: loginPath }, `svc_console=${token}`);
  let answer = await read();
  while (answer.status === 503) answer = await read();
  assert.equal(answer.status, 200);
});

test('shards that stop together answer the requests that they have forwarded', async (t) => {
  const group = await ShardGroup.start(t, 2);
  const key = group.issueKey(1);
  const { service } = group.shard(0);
  const connection = await RawConnection.open(service.ports!.public);
  const body = '{"referrer_tag":"tag-a"}';
  const head = `POST /v1/personal-loans/session HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
  connection.socket.write(`${head}Content-Length: ${body.length}\r\n\r\n{`);
  while (service.requestsInFlight() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const closed = [0, 1].map((shard) => group.shard(shard).service.close());
  await new Promise((resolve) => setTimeout(resolve, 100));
  connection.socket.write(body.slice(1));
  assert.equal((await connection.response()).status, 200);
  await Promise.all(closed);
});
