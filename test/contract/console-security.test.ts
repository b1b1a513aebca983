import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { pino } from 'pino';
import { operatorTokenPath } from '../../src/auth/operator-token.ts';
import { bounds } from '../../src/bounds.ts';
import { type ApiCaller, assertError, assertOk, type DocumentedErrorCode } from '../support/api-caller.ts';
import type { HttpResponse } from '../support/http-client.ts';
import { type ApiKeyOptions, RunningMarketplace } from '../support/running-marketplace.ts';
import { equipmentLeasesFixture, personalLoansFixture } from '../support/vertical-fixtures.ts';
import { cookieOf, logIn, loginPath, sendAsPage, sendLogin } from './console-support.ts';

const consoleApi = '/console/api/v1/personal-loans';
const tags = `${consoleApi}/tags`;
const operatorKeys = '/console/api/keys';

for (const engine of ['uws', 'node'] as const) {
  describe(`logins at the consoles on ${engine}`, () => {
    let market: RunningMarketplace;
    before(async () => {
      market = await RunningMarketplace.start(engine);
    });
    after(() => market.close());

    async function partner(wanted: ApiKeyOptions = {}) {
      const { key, id } = market.issueKey(personalLoansFixture, wanted);
      return { key, id, cookie: await logIn(market.http, { key }) };
    }
    const operator = () => logIn(market.operations, { token: market.operatorToken });
    const get = (path: string, cookie: string) => sendAsPage(market.http, { path }, cookie);

    test('never accepts a token that the client chose (session fixation)', async () => {
      const { key } = market.issueKey(personalLoansFixture);
      const chosen = `svc_console=${'a'.repeat(43)}`;
      const first = cookieOf(await sendLogin(market.http, { key }, { Cookie: chosen }));
      assert.match(first, /^svc_console=[0-9a-f]{10}[\w-]{43}$/);
      assert.notEqual(first, chosen);
      assertError(await get(loginPath, chosen), 'LOGIN_REQUIRED');
      const second = cookieOf(await sendLogin(market.http, { key }, { Cookie: first }));
      assertError(await get(loginPath, first), 'LOGIN_REQUIRED');
      assertOk(await get(loginPath, second));
    });

    test('answers only requests of its own pages (CSRF)', async () => {
      const { key, cookie } = await partner();
      const operatorCookie = await operator();
      const host = `127.0.0.1:${market.http.port}`;
      const noSite = { 'Sec-Fetch-Site': '' };
      // Each row: headers, whether reading requests are answered, whether changing requests are answered.
      for (const [headers, reads, changes] of [
        [{ 'Sec-Fetch-Site': 'same-origin' }, true, true],
        [{ 'Sec-Fetch-Site': 'same-origin', Origin: 'https://behind-a-proxy.example' }, true, true],
        [{ 'Sec-Fetch-Site': 'same-site' }, false, false],
        [{ 'Sec-Fetch-Site': 'cross-site' }, false, false],
        [{ 'Sec-Fetch-Site': 'none' }, false, false],
        [{ 'Sec-Fetch-Site': 'same-origin, cross-site' }, false, false],
        [{ 'Sec-Fetch-Site': 'cross-site', Origin: `http://${host}` }, false, false],
        [noSite, true, false],
        [{ ...noSite, Origin: `http://${host}` }, true, true],
        [{ ...noSite, Origin: `https://${host}` }, true, true],
        [{ ...noSite, Origin: 'null' }, false, false],
        [{ ...noSite, Origin: 'https://evil.example' }, false, false],
        [{ ...noSite, Origin: `http://${host}.evil.example` }, false, false],
        [{ ...noSite, Origin: `http://evil.example@${host}` }, false, false],
        [{ ...noSite, Origin: 'http://127.0.0.1' }, false, false],
        [{ ...noSite, Origin: `http://127.0.0.1:${market.operations.port}` }, false, false],
        [{ ...noSite, Origin: host }, false, false],
      ] as const) {
        const title = JSON.stringify(headers);
        const isRefused = (answer: HttpResponse) => {
          assert.equal(answer.headers.has('access-control-allow-origin'), false, title);
          if (answer.status !== 403) return false;
          assertError(answer, 'CROSS_SITE_REQUEST');
          assert.equal(answer.headers.has('set-cookie'), false, title);
          return true;
        };
        for (const path of [tags, loginPath]) {
          assert.equal(isRefused(await sendAsPage(market.http, { path, headers }, cookie)), !reads, `GET ${title}`);
        }
        const change = { method: 'PUT', path: `${consoleApi}/experiments/forged`, json: {}, headers };
        assert.equal(isRefused(await sendAsPage(market.http, change, cookie)), !changes, `PUT ${title}`);
        assert.equal(isRefused(await sendLogin(market.http, { key: `${key}0` }, headers)), !changes, `POST ${title}`);
        if (title.includes('127.0.0.1')) continue;
        const revoke = { method: 'DELETE', path: `${operatorKeys}/key_000000000000`, headers };
        assert.equal(isRefused(await sendAsPage(market.operations, revoke, operatorCookie)), !changes, title);
      }
    });

    test('accepts no body that a form of another page can send', async () => {
      const { key, cookie } = await partner();
      for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=b', '']) {
        const headers = { 'Content-Type': type };
        assertError(await sendLogin(market.http, { key }, headers), 'UNSUPPORTED_MEDIA_TYPE');
        const close = { method: 'POST', path: `${consoleApi}/experiments/one/close`, json: {}, headers };
        assertError(await sendAsPage(market.http, close, cookie), 'UNSUPPORTED_MEDIA_TYPE');
        const create = { method: 'POST', path: operatorKeys, json: {}, headers };
        assertError(await sendAsPage(market.operations, create, await operator()), 'UNSUPPORTED_MEDIA_TYPE');
      }
    });

    test('gives the pages headers against framing and foreign content', async () => {
      for (const http of [market.http, market.operations]) {
        const { headers } = await http.send({ path: '/console/' });
        const csp = headers.get('content-security-policy') ?? '';
        const directives = new Map(csp.split('; ').map((text) => [text.split(' ', 1)[0], text]));
        assert.equal(directives.get('default-src'), "default-src 'none'");
        assert.equal(directives.get('script-src'), "script-src 'self'");
        assert.equal(directives.get('frame-ancestors'), "frame-ancestors 'none'");
        assert.equal(directives.get('form-action'), "form-action 'none'");
        assert.equal(directives.get('base-uri'), "base-uri 'none'");
        assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin');
        assert.equal(headers.get('referrer-policy'), 'no-referrer');
        assert.equal(headers.get('x-content-type-options'), 'nosniff');
      }
    });

    test('sets a cookie that scripts cannot read, and that browsers send only to the API of the console', async () => {
      const { key } = market.issueKey(personalLoansFixture);
      const attributes = 'Max-Age=28800; HttpOnly; SameSite=Strict';
      for (const [origin, expected] of [
        ['', attributes],
        ['http://console.example', attributes],
        ['https://console.example', `${attributes}; Secure`],
        ['HTTPS://console.example', attributes],
      ] as const) {
        const answer = await sendLogin(market.http, { key }, { Origin: origin });
        assert.equal(
          answer.headers.get('set-cookie')?.replace(/^svc_console=[0-9a-f]{10}[\w-]{43}; /, ''),
          expected,
          origin,
        );
      }
      const logout = await sendAsPage(market.http, { method: 'DELETE', path: loginPath });
      assert.equal(logout.headers.get('set-cookie'), 'svc_console=; Max-Age=0; HttpOnly; SameSite=Strict');
    });

    test('a stolen cookie of a partner gives access to nothing but the console of its account', async () => {
      const { cookie } = await partner();
      const other = market.caller(personalLoansFixture);
      const subId = await other.createSessionWithFields('other', personalLoansFixture.complete);
      const token = cookie.split('=')[1]!;
      const both = `${cookie}; svc_operator_console=${token}`;
      type Row = readonly ['http' | 'operations', string, string, DocumentedErrorCode];
      const api = '/v1/personal-loans';
      const rows: readonly Row[] = [
        ['http', 'GET', `${api}/tags`, 'UNAUTHORIZED'],
        ['http', 'GET', `${api}/analytics?referrer_tag=other`, 'UNAUTHORIZED'],
        ['http', 'POST', `${api}/session`, 'UNAUTHORIZED'],
        ['http', 'POST', `${consoleApi}/session`, 'NOT_FOUND'],
        ['http', 'POST', `${consoleApi}/inputs`, 'NOT_FOUND'],
        ['http', 'GET', `${consoleApi}/marketplace?sub_id=${subId}&format=json`, 'NOT_FOUND'],
        ['http', 'GET', `/console/api/v1/${equipmentLeasesFixture.vertical.segment}/tags`, 'VERTICAL_MISMATCH'],
        ['http', 'GET', '/console/api/v1/none/tags', 'NOT_FOUND'],
        ['http', 'GET', `${consoleApi}/../personal-loans/tags`, 'NOT_FOUND'],
        ['http', 'GET', operatorKeys, 'NOT_FOUND'],
        ['operations', 'GET', operatorKeys, 'LOGIN_REQUIRED'],
        ['operations', 'POST', operatorKeys, 'LOGIN_REQUIRED'],
        ['operations', 'GET', '/keys', 'UNAUTHORIZED'],
        ['operations', 'POST', '/keys', 'UNAUTHORIZED'],
        ['operations', 'POST', '/confirmations', 'UNAUTHORIZED'],
        ['operations', 'GET', loginPath, 'LOGIN_REQUIRED'],
        ['operations', 'GET', tags, 'NOT_FOUND'],
      ];
      for (const [listener, method, path, code] of rows) {
        const request = { method, path, ...(method === 'POST' && { json: {} }) };
        const answer = await sendAsPage(market[listener], request, both);
        assertError(answer, code);
      }
      assertOk(await get(tags, both));
      const figures = await get(`${consoleApi}/analytics?sub_id_list=${subId}`, both);
      assert.equal(assertOk<{ sessions_total: number }>(figures).sessions_total, 0);
    });

    test('an operator cookie, a key or a token gives no access where another credential is needed', async () => {
      const { key } = market.issueKey(personalLoansFixture);
      const cookie = await operator();
      const asPartner = cookie.replace('svc_operator_console', 'svc_console');
      const bearer = (secret: string) => ({ Authorization: `Bearer ${secret}` });
      for (const [listener, path, given, headers, code] of [
        ['http', tags, `${cookie}; ${asPartner}`, {}, 'LOGIN_REQUIRED'],
        ['http', loginPath, asPartner, {}, 'LOGIN_REQUIRED'],
        ['http', tags, '', bearer(key), 'LOGIN_REQUIRED'],
        ['operations', operatorKeys, '', bearer(market.operatorToken), 'LOGIN_REQUIRED'],
        ['operations', operatorKeys, asPartner, {}, 'LOGIN_REQUIRED'],
        ['operations', '/keys', cookie, {}, 'UNAUTHORIZED'],
      ] as const) {
        assertError(await sendAsPage(market[listener], { path, headers }, given), code);
      }
      assertError(await sendLogin(market.http, { key: market.operatorToken }), 'LOGIN_FAILED');
      assertError(await sendLogin(market.operations, { token: key }), 'LOGIN_FAILED');
      assertError(await sendLogin(market.http, { token: key }), 'INVALID_REQUEST', 'key');
    });

    test('a login ends with logout, with its key, and after eight hours', async () => {
      const { marketplace, clock } = market;
      const expiresAt = new Date(clock.wallMs() + 60_000);
      const [loggedOut, revoked, expiring, aged] = [
        await partner(),
        await partner(),
        await partner({ expiresAt }),
        await partner(),
      ];
      await sendAsPage(market.http, { method: 'DELETE', path: loginPath }, loggedOut.cookie);
      assertError(await get(tags, loggedOut.cookie), 'LOGIN_REQUIRED');
      marketplace.keys.revoke(revoked.id);
      assertError(await get(tags, revoked.cookie), 'LOGIN_REQUIRED');
      assertError(await get(loginPath, revoked.cookie), 'LOGIN_REQUIRED');
      assertError(await sendLogin(market.http, { key: revoked.key }), 'LOGIN_FAILED');
      const { key_expires_at: shown } = assertOk<{ key_expires_at: string }>(await get(loginPath, expiring.cookie));
      assert.equal(shown, expiresAt.toISOString());
      clock.advance(60_000);
      assertError(await get(tags, expiring.cookie), 'LOGIN_REQUIRED');
      assertError(await sendLogin(market.http, { key: expiring.key }), 'LOGIN_FAILED');
      clock.advance(bounds.consoleLoginMs - 60_001);
      assertOk(await get(tags, aged.cookie));
      clock.advance(1);
      assertError(await get(tags, aged.cookie), 'LOGIN_REQUIRED');
    });

    test('a key with the scope analytics logs in, and changes nothing', async () => {
      const { cookie, key } = await partner({ scope: 'analytics' });
      assertOk(await get(tags, cookie));
      for (const [method, path] of [
        ['PUT', 'experiments/one'],
        ['DELETE', 'experiments/one'],
        ['POST', 'experiments/one/close'],
      ] as const) {
        const request = { method, path: `${consoleApi}/${path}`, ...(method !== 'DELETE' && { json: {} }) };
        assertError(await sendAsPage(market.http, request, cookie), 'INSUFFICIENT_SCOPE');
      }
      assert.equal(assertOk<{ scope: string }>(await sendLogin(market.http, { key })).scope, 'analytics');
    });

    test('requests of a login count toward its own limit', async () => {
      const { key, cookie } = await partner({ limits: { requestsPerMinute: 1, analyticsPerMinute: 1 } });
      const caller: ApiCaller = market.callerWithKey(personalLoansFixture, key);
      const first = await get(tags, cookie);
      assert.equal(first.headers.get('x-ratelimit-limit'), String(bounds.consoleRequestsPerMinute));
      assert.equal(first.headers.get('x-ratelimit-remaining'), String(bounds.consoleRequestsPerMinute - 1));
      for (let sent = 1; sent < bounds.consoleRequestsPerMinute; sent++)
        assert.equal((await get(tags, cookie)).status, 200);
      assertError(await get(tags, cookie), 'RATE_LIMIT_EXCEEDED');
      assertOk(await get(tags, await logIn(market.http, { key })));
      assertOk(await caller.get('tags', {}));
      market.clock.advance(bounds.rateLimitWindowMs);
      assertOk(await get(tags, cookie));
      const token = await operator();
      const status = () => sendAsPage(market.operations, { path: `${operatorKeys}/key_000000000000` }, token);
      for (let sent = 0; sent < bounds.consoleRequestsPerMinute; sent++) assertError(await status(), 'NOT_FOUND');
      assertError(await status(), 'RATE_LIMIT_EXCEEDED');
      market.clock.advance(bounds.rateLimitWindowMs);
    });

    test('failed logins are limited, and do not refuse a valid key from the same address', async () => {
      const { key } = market.issueKey(personalLoansFixture);
      market.clock.advance(bounds.rateLimitWindowMs);
      const wrong = () => sendLogin(market.http, { key: `${key.slice(0, -4)}0000` });
      for (let sent = 0; sent < bounds.consoleLoginFailuresPerMinute; sent++)
        assertError(await wrong(), 'LOGIN_FAILED');
      const refused = await wrong();
      assertError(refused, 'TOO_MANY_LOGINS');
      assert.equal(refused.headers.get('retry-after'), '60');
      assertError(await sendLogin(market.operations, { token: 'wrong' }), 'TOO_MANY_LOGINS');
      assertOk(await sendLogin(market.http, { key }));
      assertOk(await sendLogin(market.operations, { token: market.operatorToken }));
      market.clock.advance(bounds.rateLimitWindowMs);
      assertError(await wrong(), 'LOGIN_FAILED');
    });

    test('refuses malformed login bodies', async () => {
      const { key } = market.issueKey(personalLoansFixture);
      market.clock.advance(bounds.rateLimitWindowMs);
      for (const [body, code, param] of [
        ['', 'INVALID_REQUEST', 'body'],
        ['{', 'INVALID_REQUEST', 'body'],
        [Buffer.from('{"key":"\xff"}', 'latin1'), 'INVALID_REQUEST', 'body'],
        ['null', 'INVALID_REQUEST', 'key'],
        ['[]', 'INVALID_REQUEST', 'key'],
        [`"${key}"`, 'INVALID_REQUEST', 'key'],
        ['{}', 'INVALID_REQUEST', 'key'],
        [`{"key":["${key}"]}`, 'INVALID_REQUEST', 'key'],
        ['{"key":1}', 'INVALID_REQUEST', 'key'],
        [`{"key":"${key}","token":"${key}"}`, 'INVALID_REQUEST', 'key'],
        ['{"key":""}', 'LOGIN_FAILED'],
        [`{"key":"Bearer ${key}"}`, 'LOGIN_FAILED'],
        [`{"key":"${key.toUpperCase()}"}`, 'LOGIN_FAILED'],
        [`{"key":"${key}\\u0000"}`, 'LOGIN_FAILED'],
        [`{"key":"${'k'.repeat(60_000)}"}`, 'LOGIN_FAILED'],
        [`{"key":"${'k'.repeat(bounds.requestBodyBytesMax)}"}`, 'PAYLOAD_TOO_LARGE'],
      ] as const) {
        const headers = { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) };
        const answer = await sendAsPage(market.http, { method: 'POST', path: loginPath, headers, body });
        assertError(answer, code, param);
        assert.equal(answer.headers.has('set-cookie'), false);
      }
      assertOk(await sendLogin(market.http, { key: ` ${key}\n` }));
    });

    test('refuses malformed cookies', async () => {
      const { cookie } = await partner();
      const token = cookie.split('=')[1]!;
      for (const [given, isAccepted] of [
        [cookie, true],
        [`a=b; ${cookie}; c="d; e"`, true],
        [`a=b;${cookie};`, true],
        [`svc_console_two=1; ${cookie}`, true],
        [`${cookie}; svc_console=${'a'.repeat(43)}`, false],
        [`svc_console=${'a'.repeat(43)}; ${cookie}`, false],
        [`${cookie}; ${cookie}`, false],
        [`svc_console="${token}"`, false],
        [`svc_console=${token.slice(1)}`, false],
        [`svc_console=${token}a`, false],
        [`svc_console=${encodeURIComponent(`${token} `)}`, false],
        [`SVC_CONSOLE=${token}`, false],
        [`xsvc_console=${token}`, false],
        ['svc_console=', false],
        ['svc_console', false],
        ['=;=;;', false],
        [`svc_console=${'a'.repeat(30_000)}`, false],
      ] as const) {
        const answer = await get(tags, given);
        if (isAccepted) assertOk(answer);
        else assertError(answer, 'LOGIN_REQUIRED');
      }
    });

    test('answers HEAD and OPTIONS, and 405 to other methods', async () => {
      const { cookie } = await partner();
      const send = (method: string, path: string) => sendAsPage(market.http, { method, path }, cookie);
      for (const [path, allow] of [
        ['/console', 'GET, HEAD, OPTIONS'],
        ['/console/', 'GET, HEAD, OPTIONS'],
        ['/console/partner.js', 'GET, HEAD, OPTIONS'],
        [loginPath, 'GET, HEAD, POST, DELETE, OPTIONS'],
        [tags, 'GET, HEAD, OPTIONS'],
      ] as const) {
        const options = await send('OPTIONS', path);
        assert.deepEqual([options.status, options.headers.get('allow')], [204, allow], path);
        const refused = await send('PATCH', path);
        assertError(refused, 'METHOD_NOT_ALLOWED');
        assert.equal(refused.headers.get('allow'), allow);
        const [head, read] = [await send('HEAD', path), await send('GET', path)];
        assert.deepEqual([head.status, head.text], [read.status, ''], path);
        assert.equal(head.headers.get('content-length'), read.headers.get('content-length'), path);
      }
      for (const path of ['/console/x', '/console/api', '/console/api/', '/consoles', '/console/operator.js']) {
        assertError(await send('GET', path), 'NOT_FOUND');
      }
    });

    test('sends figures as CSV', async () => {
      const { cookie, key } = await partner();
      const csv = { Accept: 'text/csv' };
      const byLogin = await sendAsPage(market.http, { path: tags, headers: csv }, cookie);
      const byKey = await market.callerWithKey(personalLoansFixture, key).get('tags', {}, csv);
      assert.equal(byLogin.headers.get('content-type'), byKey.headers.get('content-type'));
      assert.deepEqual([byLogin.status, byLogin.text], [byKey.status, byKey.text]);
    });
  });
}

test('a restart keeps logins, but ends those of an operator token that was deleted', async (t) => {
  const market = await RunningMarketplace.start('uws');
  t.after(() => market.close());
  const { key } = market.issueKey(personalLoansFixture);
  const kept = await logIn(market.http, { key });
  const ended = await logIn(market.http, { key });
  const operator = await logIn(market.operations, { token: market.operatorToken });
  await sendAsPage(market.http, { method: 'DELETE', path: loginPath }, ended);
  await market.restart();
  assertOk(await sendAsPage(market.http, { path: loginPath }, kept));
  assertError(await sendAsPage(market.http, { path: loginPath }, ended), 'LOGIN_REQUIRED');
  assertOk(await sendAsPage(market.operations, { path: loginPath }, operator));
  await market.restart(() => rmSync(operatorTokenPath(market.folder)));
  assertOk(await sendAsPage(market.http, { path: loginPath }, kept));
  assertError(await sendAsPage(market.operations, { path: loginPath }, operator), 'LOGIN_REQUIRED');
  assertOk(await sendLogin(market.operations, { token: market.operatorToken }));
});

test('a replaced operator token ends its logins, and without a token the operator is refused until there is one', async (t) => {
  const lines: string[] = [];
  const logger = pino({ level: 'info', base: null }, { write: (line) => void lines.push(JSON.parse(line).msg) });
  const market = await RunningMarketplace.start('uws', { logger });
  t.after(() => market.close());
  const path = operatorTokenPath(market.folder);
  const first = market.operatorToken;
  const second = `svc_operator_${'0'.repeat(64)}`;
  const cookies = new Map([[first, await logIn(market.operations, { token: first })]]);
  /** Checks which of the tokens can be used, alone and with the login that it created before. */
  async function assertOnlyValid(valid: string | null): Promise<void> {
    market.clock.advance(bounds.operatorTokenReadIntervalMs);
    for (const token of [first, second]) {
      const isValid = token === valid;
      const byToken = { path: '/keys', headers: { Authorization: `Bearer ${token}` } };
      const byLogin = { path: operatorKeys };
      const answers = [
        await market.operations.send(byToken),
        await sendAsPage(market.operations, byLogin, cookies.get(token)),
        await sendLogin(market.operations, { token }),
      ] as const;
      if (isValid) for (const answer of [answers[0], answers[2]]) assertOk(answer);
      else {
        assertError(answers[0], 'UNAUTHORIZED');
        assertError(answers[1], 'LOGIN_REQUIRED');
        assertError(answers[2], 'LOGIN_FAILED');
      }
      if (isValid && cookies.has(token)) assertOk(answers[1]);
    }
    for (const open of ['/healthz', '/readyz', '/metrics', '/console/']) {
      assert.equal((await market.operations.send({ path: open })).status, 200, open);
    }
  }
  await assertOnlyValid(first);
  writeFileSync(path, second);
  await assertOnlyValid(second);
  cookies.set(second, await logIn(market.operations, { token: second }));
  rmSync(path);
  await assertOnlyValid(null);
  writeFileSync(path, second);
  await assertOnlyValid(second);
  const changes = lines.filter((line) => line.startsWith('operator token'));
  assert.deepEqual(
    changes.map((line) => line.split(/[,;]/, 1)[0]),
    ['operator token reloaded', 'operator token unusable', 'operator token reloaded'],
  );
  await market.restart();
  await assertOnlyValid(second);
});

test('the log names the key of a login, and contains no key, token or cookie', async (t) => {
  const lines: string[] = [];
  const logger = pino({ level: 'trace', base: null }, { write: (line) => void lines.push(line) });
  const market = await RunningMarketplace.start('uws', { logger });
  t.after(() => market.close());
  const { key, id } = market.issueKey(personalLoansFixture, { account: 'acme' });
  const cookie = await logIn(market.http, { key });
  const operatorCookie = await logIn(market.operations, { token: market.operatorToken });
  await sendLogin(market.http, { key: `${key}0` });
  await sendLogin(market.http, { key: market.operatorToken });
  await sendAsPage(market.http, { path: tags }, cookie);
  await sendAsPage(market.http, { path: `${tags}?limit=0` }, cookie);
  await sendAsPage(market.http, { path: tags }, cookie.slice(0, -1));
  await sendAsPage(market.operations, { path: operatorKeys }, operatorCookie);
  await sendAsPage(market.http, { method: 'DELETE', path: loginPath }, cookie);
  const logins = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'console login');
  assert.deepEqual(
    logins.map(({ time: _time, ...line }) => line),
    [
      { level: 30, keyId: id, account: 'acme', msg: 'console login' },
      { level: 30, operator: true, msg: 'console login' },
    ],
  );
  const all = lines.join('');
  assert.match(all, /wrong key or token at a console login/);
  for (const secret of [key, market.operatorToken, cookie, operatorCookie]) {
    assert.ok(!all.includes(secret.slice(-40, -1)), 'a secret is in the log');
  }
});
