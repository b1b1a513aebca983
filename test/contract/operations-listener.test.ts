import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import Database from 'better-sqlite3';
import { pino } from 'pino';
import { keyFilePath } from '../../src/auth/key-file.ts';
import { bounds } from '../../src/bounds.ts';
import { assertError, assertOk } from '../support/api-caller.ts';
import { describeService } from '../support/contract-suite.ts';
import { echoMarker, type HttpRequest, type HttpResponse } from '../support/http-client.ts';
import { RunningMarketplace } from '../support/running-marketplace.ts';
import { allFixtures, personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

interface ShownKey {
  readonly id: string;
  readonly account: string;
  readonly state: string;
  readonly revoked_at: string | null;
  readonly [member: string]: unknown;
}

/** Sends a request with the operator token to the operations listener. `json` is the body. */
function ask(market: RunningMarketplace, asked: HttpRequest & { readonly json?: unknown }): Promise<HttpResponse> {
  const { json, ...rest } = asked;
  const body = rest.body ?? (json === undefined ? undefined : JSON.stringify(json));
  return market.operations.send({
    ...rest,
    headers: {
      Authorization: `Bearer ${market.operatorToken}`,
      ...(body !== undefined && {
        'Content-Type': 'application/json',
        'Content-Length': String(Buffer.byteLength(body)),
      }),
      ...rest.headers,
    },
    ...(body !== undefined && { body }),
  });
}

function jsonOf<Value>({ text }: HttpResponse): Value {
  return JSON.parse(text) as Value;
}

const wish = { account: 'acme', vertical: 'personal-loans', mode: 'test' };

describeService('the operations listener', ({ running }) => {
  describe('keys', () => {
    async function issue(more: object = {}): Promise<ShownKey & { readonly key: string }> {
      const answer = await ask(running(), { method: 'POST', path: '/keys', json: { ...wish, ...more } });
      assert.equal(answer.status, 201, answer.text);
      return jsonOf(answer);
    }

    async function listed(id: string): Promise<ShownKey | undefined> {
      return assertOk<ShownKey[]>(await ask(running(), { path: '/keys' })).find((key) => key.id === id);
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
      assert.deepEqual(rest, {
        account: 'acme',
        vertical: 'personal-loans',
        mode: 'test',
        state: 'active',
        expires_at: '3000-01-01T00:00:00.000Z',
        revoked_at: null,
        requests_per_minute: 7,
        analytics_per_minute: null,
        sessions_per_day: null,
      });
      const created = await market.callerWithKey(fixture, key).post('session', { referrer_tag: 'fresh' });
      assert.equal(created.headers.get('x-ratelimit-limit'), '7');
      assertOk(created);
      assert.deepEqual(await listed(id), about);
      assert.deepEqual(assertOk(await ask(market, { path: `/keys/${id}` })), about);
      const all = (await ask(market, { path: '/keys' })).text;
      assert.ok(!all.includes(key) && !/hash/.test(all));
    });

    test('requests with a revoked API key are rejected immediately', async () => {
      const market = running();
      const { id, key } = await issue();
      const revoke = () => ask(market, { method: 'DELETE', path: `/keys/${id}` });
      const revoked = assertOk<ShownKey>(await revoke());
      assert.equal(revoked.state, 'revoked');
      assertError(await market.callerWithKey(fixture, key).post('session', { referrer_tag: 'late' }), 'UNAUTHORIZED');
      market.clock.advance(60_000);
      assert.deepEqual(assertOk(await revoke()), revoked);
      assert.deepEqual(await listed(id), revoked);
    });

    test('the error for an invalid API key request names the invalid member', async () => {
      const market = running();
      const count = async () => assertOk<ShownKey[]>(await ask(market, { path: '/keys' })).length;
      const before = await count();
      const past = new Date(market.clock.wallMs()).toISOString();
      for (const [member, value] of [
        ['account', ''],
        ['account', ` ${echoMarker}`],
        ['account', 'a'.repeat(bounds.accountNameCharactersMax + 1)],
        ['vertical', 'mortgage'],
        ['vertical', undefined],
        ['mode', echoMarker],
        ['mode', undefined],
        ['expires', echoMarker],
        ['expires', past],
        ['expires', 4_102_444_800_000],
        ['requests_per_minute', 0],
        ['requests_per_minute', '5'],
        ['analytics_per_minute', bounds.limitPerMinuteMax + 1],
        ['sessions_per_day', bounds.limitPerDayMax + 1],
      ] as const) {
        const answer = await ask(market, { method: 'POST', path: '/keys', json: { ...wish, [member]: value } });
        assertError(answer, 'INVALID_REQUEST', member);
      }
      const misspelt = await ask(market, { method: 'POST', path: '/keys', json: { ...wish, exipres: '2999-12-31' } });
      assertError(misspelt, 'INVALID_REQUEST', 'body');
      for (const body of ['', '{', '[]', 'null', '"x"', `{"account":"${echoMarker}"`]) {
        assertError(await ask(market, { method: 'POST', path: '/keys', body }), 'INVALID_REQUEST', 'body');
      }
      const large = JSON.stringify({
        ...wish,
        more: echoMarker.repeat(bounds.confirmationBodyBytesMax / echoMarker.length),
      });
      assertError(await ask(market, { method: 'POST', path: '/keys', body: large }), 'PAYLOAD_TOO_LARGE');
      const typed = { method: 'POST', path: '/keys', json: wish, headers: { 'Content-Type': 'text/plain' } };
      assertError(await ask(market, typed), 'UNSUPPORTED_MEDIA_TYPE');
      assert.equal(await count(), before);
    });

    test('returns 404 for an unknown API key id', async () => {
      const market = running();
      for (const id of ['key_000000000000', echoMarker, '', '/', '%00', 'a'.repeat(4_000), '..', `${echoMarker}%`]) {
        for (const method of ['GET', 'DELETE']) {
          assertError(await ask(market, { method, path: `/keys/${id}` }), 'NOT_FOUND');
        }
      }
      assertError(await ask(market, { path: '/keysx' }), 'NOT_FOUND');
    });

    test('returns 503 for a change of keys or origins while another process locks the key file', async (t) => {
      const market = running();
      const { id } = await issue();
      const other = new Database(keyFilePath(market.dataDir));
      t.after(() => other.close());
      other.exec('BEGIN IMMEDIATE');
      assertError(await ask(market, { method: 'POST', path: '/keys', json: wish }), 'SERVICE_UNAVAILABLE');
      assertError(await ask(market, { method: 'DELETE', path: `/keys/${id}` }), 'SERVICE_UNAVAILABLE');
      assert.equal((await listed(id))?.state, 'active');
      other.exec('ROLLBACK');
      assert.equal(assertOk<ShownKey>(await ask(market, { method: 'DELETE', path: `/keys/${id}` })).state, 'revoked');
    });
  });

  describe('origins', () => {
    const shop = 'https://shop.example.com';
    const local = 'http://localhost:3000';
    const path = (account: string, origin?: string) =>
      `/origins?${new URLSearchParams({ account, ...(origin !== undefined && { origin }) })}`;

    test('the operations listener adds, lists and removes allowed origins', async () => {
      const market = running();
      market.issueKey(fixture, { account: 'a shop' });
      const allow = (origins: readonly string[]) =>
        ask(market, { method: 'POST', path: '/origins', json: { account: 'a shop', origins } });
      assert.deepEqual(assertOk(await allow([shop])), [{ origin: shop, outcome: 'allowed' }]);
      assert.deepEqual(assertOk(await allow([local, shop])), [
        { origin: local, outcome: 'allowed' },
        { origin: shop, outcome: 'already_allowed' },
      ]);
      const list = [local, shop].map((origin) => ({ account: 'a shop', origin }));
      assert.deepEqual(assertOk(await ask(market, { path: '/origins' })), list);
      assert.deepEqual(assertOk(await ask(market, { path: path('a shop') })), list);
      const remove = () => ask(market, { method: 'DELETE', path: path('a shop', local) });
      assert.deepEqual(assertOk(await remove()), [{ origin: local, outcome: 'removed' }]);
      assert.deepEqual(assertOk(await remove()), [{ origin: local, outcome: 'not_allowed' }]);
      assert.deepEqual(assertOk(await ask(market, { path: path('a shop') })), list.slice(1));
    });

    test('the error for invalid origins, too many origins or an unknown account names the invalid member', async () => {
      const market = running();
      market.issueKey(fixture, { account: 'careful' });
      const allow = (json: unknown) => ask(market, { method: 'POST', path: '/origins', json });
      const many = Array.from(
        { length: bounds.embedOriginsPerAccountMax + 1 },
        (_, at) => `https://s${at}.example.com`,
      );
      for (const [json, param] of [
        [{ account: 'careful' }, 'origins'],
        [{ account: 'careful', origins: shop }, 'origins'],
        [{ account: 'careful', origins: [shop, `https://*.${echoMarker}.com`] }, 'origins'],
        [{ account: 'careful', origins: [shop, 7] }, 'origins'],
        [{ account: 'careful', origins: many }, 'origins'],
        [{ account: echoMarker, origins: [shop] }, 'account'],
        [{ origins: [shop] }, 'account'],
        [null, 'account'],
        [7, 'account'],
      ] as const) {
        assertError(await allow(json), 'INVALID_REQUEST', param);
      }
      assertOk(await allow({ account: 'careful', origins: many.slice(1) }));
      assertError(await allow({ account: 'careful', origins: [shop] }), 'INVALID_REQUEST', 'origins');
      assertError(await ask(market, { method: 'DELETE', path: '/origins' }), 'INVALID_REQUEST', 'account');
      assertError(await ask(market, { method: 'DELETE', path: path('careful') }), 'INVALID_REQUEST', 'origin');
      assertError(await ask(market, { method: 'DELETE', path: path(echoMarker, shop) }), 'INVALID_REQUEST', 'account');
      assertError(await ask(market, { path: path(echoMarker) }), 'INVALID_REQUEST', 'account');
      assertError(await ask(market, { path: '/origins?account=a&account=b' }), 'INVALID_REQUEST', 'account');
      assert.equal(
        assertOk<unknown[]>(await ask(market, { path: path('careful') })).length,
        bounds.embedOriginsPerAccountMax,
      );
    });
  });

  describe('access', () => {
    const paths = ['/keys', '/keys/key_000000000000', '/origins', '/confirmations'];
    const allowed: Readonly<Record<string, string>> = {
      '/keys': 'GET, HEAD, POST, OPTIONS',
      '/keys/key_000000000000': 'GET, HEAD, DELETE, OPTIONS',
      '/origins': 'GET, HEAD, POST, DELETE, OPTIONS',
      '/confirmations': 'POST, OPTIONS',
    };

    test('requires the operator token to list and to change keys and origins', async () => {
      const market = running();
      const apiKey = market.issueKey(fixture).key;
      for (const path of paths) {
        for (const method of allowed[path]!.split(', ')) {
          if (method === 'OPTIONS') continue;
          for (const headers of [
            {},
            { Authorization: `Bearer ${apiKey}` },
            { Authorization: `Bearer ${market.operatorToken}0` },
          ]) {
            const answer = await market.operations.send({ method, path, headers });
            if (method === 'HEAD') assert.equal(answer.status, 401);
            else assert.match(assertError(answer, 'UNAUTHORIZED').message, /operator's token.*file operator-token/);
          }
        }
      }
    });

    test('responds to OPTIONS with the allowed methods of every path', async () => {
      const market = running();
      for (const path of paths) {
        const described = await market.operations.send({ method: 'OPTIONS', path });
        assert.deepEqual([described.status, described.headers.get('allow')], [204, allowed[path]]);
        for (const method of ['PUT', 'PATCH']) {
          const refused = await ask(market, { method, path });
          assertError(refused, 'METHOD_NOT_ALLOWED');
          assert.equal(refused.headers.get('allow'), allowed[path]);
        }
      }
    });

    test('accepts only IP addresses, localhost and allowed names in the Host header', async () => {
      const market = running();
      const send = (path: string, host: string) =>
        market.operations.send({ path, headers: { Host: host, Authorization: `Bearer ${market.operatorToken}` } });
      const known = [
        '127.0.0.1:9090',
        '10.1.2.3',
        '[::1]:9090',
        '[fd00::1]',
        'localhost',
        'LocalHost.:80',
        'OPS.test:9090',
        '',
      ];
      for (const host of known) assert.equal((await send('/metrics', host)).status, 200, host);
      const unknown = [
        `${echoMarker}.example`,
        `${echoMarker}.example:9090`,
        'localhost.evil.example',
        '127.0.0.1.evil.example',
        'ops.test.evil.example',
        'evil.ops.test',
        '[evil.example]',
        '[127.0.0.1]x',
        '127.1',
        'evil@127.0.0.1',
        ':9090',
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
  const issued = await ask(market, { method: 'POST', path: '/keys', json: wish });
  const { id, key } = jsonOf<ShownKey & { readonly key: string }>(issued);
  const caller = market.callerWithKey(fixture, key);
  const answered = await caller.post('session', { referrer_tag: 'logged' });
  const refused = await caller.post('session', { referrer_tag: '!' });
  const origin = 'https://acme.example';
  await ask(market, { method: 'POST', path: '/origins', json: { account: 'acme', origins: [origin] } });
  await ask(market, { method: 'DELETE', path: `/origins?account=acme&origin=${encodeURIComponent(origin)}` });
  await ask(market, { method: 'DELETE', path: `/keys/${id}` });

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
