import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertError, assertOk } from '../support/api-caller.ts';
import { RunningMarketplace } from '../support/running-marketplace.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';
import { cookieOf, loginPath, sendAsPage, sendLogin } from './console-support.ts';

let market: RunningMarketplace;
before(async () => {
  market = await RunningMarketplace.start('uws');
});
after(() => market.close());

test('logs a partner in with an API key, and out again', async () => {
  const { key, id } = market.issueKey(personalLoansFixture, { account: 'acme', mode: 'test', scope: 'analytics' });
  const answer = await sendLogin(market.http, { key });
  const described = {
    account: 'acme',
    key_id: id,
    vertical: 'personal-loans',
    mode: 'test',
    scope: 'analytics',
    login_expires_at: new Date(market.clock.wallMs() + 8 * 60 * 60 * 1000).toISOString(),
    key_expires_at: null,
    now: new Date(market.clock.wallMs()).toISOString(),
    test_clock: false,
  };
  assert.deepEqual(assertOk(answer), described);
  const cookie = cookieOf(answer);
  assert.deepEqual(assertOk(await sendAsPage(market.http, { path: loginPath }, cookie)), described);
  const tags = '/console/api/v1/personal-loans/tags';
  const byKey = await market.callerWithKey(personalLoansFixture, key).get('tags', {});
  assert.deepEqual(assertOk(await sendAsPage(market.http, { path: tags }, cookie)), assertOk(byKey));
  const logout = await sendAsPage(market.http, { method: 'DELETE', path: loginPath }, cookie);
  assert.equal(logout.status, 204);
  assert.equal(cookieOf(logout), 'svc_console=');
  assertError(await sendAsPage(market.http, { path: tags }, cookie), 'LOGIN_REQUIRED');
});

test('logs the operator in with the operator token, and out again', async () => {
  const answer = await sendLogin(market.operations, { token: market.operatorToken });
  const { operator, verticals } = assertOk<{ operator: boolean; verticals: string[] }>(answer);
  assert.equal(operator, true);
  assert.ok(verticals.includes('personal-loans'));
  const cookie = cookieOf(answer);
  const keys = { path: '/console/api/keys' };
  assert.ok(Array.isArray(assertOk(await sendAsPage(market.operations, keys, cookie))));
  assert.equal((await sendAsPage(market.operations, { method: 'DELETE', path: loginPath }, cookie)).status, 204);
  assertError(await sendAsPage(market.operations, keys, cookie), 'LOGIN_REQUIRED');
});

test('serves the page and the files of both consoles', async () => {
  for (const [http, name] of [
    [market.http, 'partner'],
    [market.operations, 'operator'],
  ] as const) {
    const redirect = await http.send({ path: '/console' });
    assert.deepEqual([redirect.status, redirect.headers.get('location')], [308, './console/']);
    const page = await http.send({ path: '/console/' });
    assert.equal(page.status, 200);
    for (const ending of ['js', 'css']) {
      const url = new RegExp(`"(${name}\\.${ending}\\?v=[0-9a-f]{16})"`).exec(page.text)?.[1];
      const file = await http.send({ path: `/console/${url}` });
      assert.equal(file.status, 200);
      assert.match(file.headers.get('cache-control')!, /immutable/);
    }
  }
});
