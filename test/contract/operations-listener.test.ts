import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import Database from 'better-sqlite3';
import { pino } from 'pino';
import { keyFilePath } from '../../src/auth/key-file.ts';
import { bounds } from '../../src/bounds.ts';
import { assertError, assertOk } from '../support/api-caller.ts';
import { describeServiceOnEveryEngine } from '../support/contract-suite.ts';
import { echoMarker, type HttpResponse } from '../support/http-client.ts';
import { RunningMarketplace } from '../support/running-marketplace.ts';
import { allFixtures, personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';
import { askOperator } from './operator-request.ts';

interface OriginsPage {
  readonly data: readonly unknown[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

interface ShownKey {
  readonly id: string;
  readonly account: string;
  readonly state: string;
  readonly revoked_at: string | null;
  readonly [member: string]: unknown;
}

function jsonOf<Value>({ text }: HttpResponse): Value {
  return JSON.parse(text) as Value;
}

const wish = { account: 'acme', vertical: 'personal-loans', mode: 'test' };

describeServiceOnEveryEngine('the operations listener', ({ running }) => {
  const ask = (method: string, path: string, json?: unknown) => askOperator(running(), { method, path, json });
  const assertInvalid = async (param: string, answer: Promise<HttpResponse>) =>
    assertError(await answer, 'INVALID_REQUEST', param);

  describe('keys', () => {
    async function issue(more: object = {}): Promise<ShownKey & { readonly key: string }> {
      const answer = await ask('POST', '/keys', { ...wish, ...more });
      assert.equal(answer.status, 201, answer.text);
      return jsonOf(answer);
    }

    async function listed(id: string): Promise<ShownKey | undefined> {
      return assertOk<ShownKey[]>(await ask('GET', '/keys')).find((key) => key.id === id);
    }

    test('creates an API key that is shown once and works immediately', async () => {
      const market = running();
      for (const { vertical } of allFixtures) {
        assert.ok((await issue({ vertical: vertical.segment })).key.startsWith(`${vertical.keyPrefix}test_`));
      }
      const { key, ...about } = await issue({ requests_per_minute: 7, expires: '2999-12-31' });
      assert.match(key, /^svc_pl_test_[0-9a-f]{48}$/);
      const { id, created_at: _, ...rest } = about;
      assert.match(id, /^key_[0-9a-f]{12}$/);
      const usage = {
        requests_per_minute: { limit: 7, used: 0 },
        analytics_per_minute: { limit: bounds.analyticsPerMinuteDefault, used: 0 },
        sessions_per_day: { limit: bounds.sessionsPerDayDefault, used: 0 },
      };
      assert.deepEqual(rest, {
        account: 'acme',
        vertical: 'personal-loans',
        mode: 'test',
        scope: 'full',
        state: 'active',
        expires_at: '3000-01-01T00:00:00.000Z',
        revoked_at: null,
        requests_per_minute: 7,
        analytics_per_minute: null,
        sessions_per_day: null,
        usage,
        last_used_at: null,
      });
      const created = await market.callerWithKey(fixture, key).post('session', { referrer_tag: 'fresh' });
      assert.equal(created.headers.get('x-ratelimit-limit'), '7');
      assertOk(created);
      const used = {
        ...about,
        usage: {
          ...usage,
          requests_per_minute: { limit: 7, used: 1 },
          sessions_per_day: { limit: bounds.sessionsPerDayDefault, used: 1 },
        },
        last_used_at: new Date(market.clock.wallMs()).toISOString(),
      };
      assert.deepEqual(await listed(id), used);
      assert.deepEqual(assertOk(await ask('GET', `/keys/${id}`)), used);
      const all = (await ask('GET', '/keys')).text;
      assert.ok(!all.includes(key) && !/hash/.test(all));
    });

    test('creates an API key with the scope analytics', async () => {
      const { key, ...about } = await issue({ scope: 'analytics' });
      assert.equal(about.scope, 'analytics');
      assert.deepEqual(await listed(about.id), about);
      const reader = running().callerWithKey(fixture, key);
      assertOk(await reader.get('tags', ''));
      assertError(await reader.post('session', { referrer_tag: 'scope' }), 'INSUFFICIENT_SCOPE');
    });

    test('after an API key is revoked, the next request with the key is rejected', async () => {
      const market = running();
      const { id, key } = await issue();
      const revoke = () => ask('DELETE', `/keys/${id}`);
      const revoked = assertOk<ShownKey>(await revoke());
      assert.equal(revoked.state, 'revoked');
      assertError(await market.callerWithKey(fixture, key).post('session', { referrer_tag: 'late' }), 'UNAUTHORIZED');
      market.clock.advance(60_000);
      assert.deepEqual(assertOk(await revoke()), revoked);
      assert.deepEqual(await listed(id), revoked);
    });

    test('the error for an invalid API key request names the invalid property', async () => {
      const count = async () => assertOk<ShownKey[]>(await ask('GET', '/keys')).length;
      const before = await count();
      for (const [member, value] of [
        ['account', ` ${echoMarker}`],
        ['vertical', 'mortgage'],
        ['mode', echoMarker],
        ['scope', echoMarker],
        ['scope', null],
        ['expires', new Date(running().clock.wallMs()).toISOString()],
        ['requests_per_minute', '5'],
        ['analytics_per_minute', bounds.limitPerMinuteMax + 1],
        ['sessions_per_day', bounds.limitPerDayMax + 1],
      ] as const) {
        await assertInvalid(member, ask('POST', '/keys', { ...wish, [member]: value }));
      }
      await assertInvalid('body', ask('POST', '/keys', { ...wish, exipres: '2999-12-31' }));
      const post = { method: 'POST', path: '/keys' };
      for (const body of ['', '{', '[]', 'null', '"x"', `{"account":"${echoMarker}"`]) {
        await assertInvalid('body', askOperator(running(), { ...post, body }));
      }
      assert.equal(await count(), before);
    });

    test('returns 404 for an unknown API key id', async () => {
      for (const id of ['key_000000000000', echoMarker, '', '/', '%00', 'a'.repeat(4_000), '..', `${echoMarker}%`]) {
        for (const method of ['GET', 'DELETE']) assertError(await ask(method, `/keys/${id}`), 'NOT_FOUND');
      }
      assertError(await ask('GET', '/keysx'), 'NOT_FOUND');
    });

    test('returns 503 for a change of keys or origins while another process locks the key file', async (t) => {
      const { id } = await issue();
      const other = new Database(keyFilePath(running().dataDir));
      t.after(() => other.close());
      other.exec('BEGIN IMMEDIATE');
      assertError(await ask('POST', '/keys', wish), 'SERVICE_UNAVAILABLE');
      assertError(await ask('DELETE', `/keys/${id}`), 'SERVICE_UNAVAILABLE');
      assert.equal((await listed(id))?.state, 'active');
      other.exec('ROLLBACK');
      assert.equal(assertOk<ShownKey>(await ask('DELETE', `/keys/${id}`)).state, 'revoked');
    });
  });

  describe('origins', () => {
    const shop = 'https://shop.example.com';
    const local = 'http://localhost:3000';
    const path = (account: string, origin?: string) =>
      `/origins?${new URLSearchParams({ account, ...(origin !== undefined && { origin }) })}`;

    test('the operations listener adds, lists and removes allowed origins', async () => {
      running().issueKey(fixture, { account: 'a shop' });
      const allow = (...origins: readonly string[]) => ask('POST', '/origins', { account: 'a shop', origins });
      assert.deepEqual(assertOk(await allow(shop)), [{ origin: shop, outcome: 'allowed' }]);
      assert.deepEqual(assertOk(await allow(local, shop)), [
        { origin: local, outcome: 'allowed' },
        { origin: shop, outcome: 'already_allowed' },
      ]);
      const list = [local, shop].map((origin) => ({ account: 'a shop', origin }));
      for (const each of ['/origins', path('a shop')]) assert.deepEqual(assertOk(await ask('GET', each)), list);
      for (const outcome of ['removed', 'not_allowed']) {
        assert.deepEqual(assertOk(await ask('DELETE', path('a shop', local))), [{ origin: local, outcome }]);
      }
      assert.deepEqual(assertOk(await ask('GET', path('a shop'))), list.slice(1));
    });

    test('pages contain each allowed origin once, also those of one account', async () => {
      const allow = (account: string, ...origins: readonly string[]) =>
        ask('POST', '/origins', { account, origins: origins.map((name) => `https://${name}.example.com`) });
      for (const account of ['pages 1', 'pages 2']) running().issueKey(fixture, { account });
      assertOk(await allow('pages 1', 'a', 'b', 'c'));
      assertOk(await allow('pages 2', 'a', 'd'));
      const readPages = async (query: Readonly<Record<string, string>>) => {
        const pages: unknown[][] = [];
        for (let cursor: string | null = ''; cursor !== null; ) {
          const text = new URLSearchParams({ ...query, ...(cursor !== '' && { cursor }) });
          const page: OriginsPage = assertOk<OriginsPage>(await ask('GET', `/origins?${text}`));
          assert.equal(page.has_more, page.next_cursor !== null);
          pages.push([...page.data]);
          cursor = page.next_cursor;
        }
        return pages;
      };
      const all = assertOk<unknown[]>(await ask('GET', '/origins'));
      const one = assertOk<unknown[]>(await ask('GET', path('pages 1')));
      assert.equal(one.length, 3);
      assert.deepEqual(await readPages({ account: 'pages 1', limit: '2' }), [one.slice(0, 2), one.slice(2)]);
      assert.deepEqual((await readPages({ limit: '2' })).flat(), all);
      for (const cursor of ['', echoMarker, '1', '1 no-origin', `x ${shop}`, `1 ${shop}/path`]) {
        await assertInvalid('cursor', ask('GET', `/origins?${new URLSearchParams({ cursor })}`));
      }
      await assertInvalid('limit', ask('GET', '/origins?limit=0'));
    });

    test('the error for invalid origins, too many origins or an unknown account names the invalid property', async () => {
      const account = 'careful';
      running().issueKey(fixture, { account });
      const { embedOriginsPerAccountMax: max } = bounds;
      const many = Array.from({ length: max + 1 }, (_, at) => `https://s${at}.example.com`);
      const invalid = [undefined, shop, [shop, `https://*.${echoMarker}.com`], [shop, 7], many];
      for (const origins of invalid) await assertInvalid('origins', ask('POST', '/origins', { account, origins }));
      for (const body of [{ account: echoMarker, origins: [shop] }, { origins: [shop] }, null, 7]) {
        await assertInvalid('account', ask('POST', '/origins', body));
      }
      assertOk(await ask('POST', '/origins', { account, origins: many.slice(1) }));
      await assertInvalid('origins', ask('POST', '/origins', { account, origins: [shop] }));
      await assertInvalid('origin', ask('DELETE', path(account)));
      for (const [method, each] of [
        ['DELETE', '/origins'],
        ['DELETE', path(echoMarker, shop)],
        ['GET', path(echoMarker)],
        ['GET', '/origins?account=a&account=b'],
      ] as const) {
        await assertInvalid('account', ask(method, each));
      }
      assert.equal(assertOk<unknown[]>(await ask('GET', path(account))).length, max);
    });
  });

  describe('access', () => {
    const allowed = new Map([
      ['/keys', 'GET, HEAD, POST, OPTIONS'],
      ['/keys/key_000000000000', 'GET, HEAD, DELETE, OPTIONS'],
      ['/status', 'GET, HEAD, OPTIONS'],
      ['/origins', 'GET, HEAD, POST, DELETE, OPTIONS'],
      ['/confirmations', 'GET, HEAD, POST, OPTIONS'],
      ['/audit', 'GET, HEAD, OPTIONS'],
    ]);

    test('requires the operator token to list and to change keys and origins', async () => {
      const { operations, operatorToken } = running();
      const { key } = running().issueKey(fixture);
      for (const [path, methods] of allowed) {
        for (const method of methods.split(', ').filter((name) => name !== 'OPTIONS')) {
          for (const wrong of [{}, { Authorization: `Bearer ${key}` }, { Authorization: `Bearer ${operatorToken}0` }]) {
            const answer = await operations.send({ method, path, headers: wrong });
            if (method === 'HEAD') assert.equal(answer.status, 401);
            else assert.match(assertError(answer, 'UNAUTHORIZED').message, /operator's token.*file operator-token/);
          }
        }
      }
    });

    test('responds to OPTIONS with the allowed methods of every path, and returns 405 for other methods', async () => {
      for (const [path, methods] of allowed) {
        const described = await running().operations.send({ method: 'OPTIONS', path });
        assert.deepEqual([described.status, described.headers.get('allow')], [204, methods]);
        for (const method of ['PUT', 'PATCH']) {
          const refused = await ask(method, path);
          assertError(refused, 'METHOD_NOT_ALLOWED');
          assert.equal(refused.headers.get('allow'), methods);
        }
      }
    });

    test('accepts only IP addresses, localhost and allowed names in the Host header', async () => {
      const market = running();
      const send = (path: string, host: string) =>
        market.operations.send({ path, headers: { Host: host, Authorization: `Bearer ${market.operatorToken}` } });
      const known = ['127.0.0.1:9090', '10.1.2.3', '[::1]:9090', '[fd00::1]', 'localhost', 'LocalHost.:80', ''];
      for (const host of [...known, 'OPS.test:9090']) assert.equal((await send('/metrics', host)).status, 200, host);
      const unknown = [
        ...[`${echoMarker}.example`, `${echoMarker}.example:9090`, 'localhost.evil.example', '127.1', ':9090'],
        ...['127.0.0.1.evil.example', 'ops.test.evil.example', 'evil.ops.test', 'evil@127.0.0.1'],
        ...['[evil.example]', '[127.0.0.1]x'],
      ];
      for (const host of unknown) assertError(await send('/metrics', host), 'MISDIRECTED_REQUEST');
      for (const path of ['/healthz', '/keys', '/nothing']) {
        assertError(await send(path, 'evil.example'), 'MISDIRECTED_REQUEST');
      }
      assert.equal((await market.http.send({ path: '/w/widget.js', headers: { Host: 'evil.example' } })).status, 200);
    });
  });
});

test('logs the key and account of each request, and logs changes through the operations API', async (t) => {
  const lines: { readonly msg: string; readonly [member: string]: unknown }[] = [];
  const logger = pino({ level: 'debug', base: null }, { write: (line) => void lines.push(JSON.parse(line)) });
  const market = await RunningMarketplace.start('uws', { logger });
  t.after(() => market.close());
  const issued = await askOperator(market, { method: 'POST', path: '/keys', json: wish });
  const { id, key } = jsonOf<ShownKey & { readonly key: string }>(issued);
  const caller = market.callerWithKey(fixture, key);
  const answered = await caller.post('session', { referrer_tag: 'logged' });
  const refused = await caller.post('session', { referrer_tag: '!' });
  const origin = 'https://acme.example';
  await askOperator(market, { method: 'POST', path: '/origins', json: { account: 'acme', origins: [origin] } });
  await askOperator(market, { method: 'DELETE', path: `/origins?account=acme&origin=${encodeURIComponent(origin)}` });
  await askOperator(market, { method: 'DELETE', path: `/keys/${id}` });

  const common = { route: 'session', method: 'POST', keyId: id, account: 'acme' };
  const requestIds = [answered, refused].map(({ headers }) => headers.get('x-request-id'));
  const ofSessions = lines.filter(({ route }) => route === 'session');
  for (const { time, durationMs } of ofSessions) {
    assert.deepEqual([typeof time, typeof durationMs], ['number', 'number']);
  }
  assert.deepEqual(
    ofSessions.map(({ time: _time, durationMs: _durationMs, ...line }) => line),
    [
      { level: 20, requestId: requestIds[0], ...common, status: 200, msg: 'request answered' },
      {
        level: 30,
        requestId: requestIds[1],
        ...common,
        status: 400,
        code: 'INVALID_REFERRER_TAG',
        msg: 'request rejected: invalid referrer_tag',
      },
    ],
  );
  assert.deepEqual(
    lines
      .filter(({ msg }) => msg.endsWith('through the operations API'))
      .map(({ level: _level, time: _time, ...line }) => line),
    [
      { keyId: id, account: 'acme', msg: 'API key created through the operations API' },
      { account: 'acme', origins: 1, msg: 'embedding origins allowed through the operations API' },
      { account: 'acme', origins: 1, msg: 'embedding origins removed through the operations API' },
      { keyId: id, account: 'acme', msg: 'API key revoked through the operations API' },
    ],
  );
});
