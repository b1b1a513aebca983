import { test } from 'node:test';
import { type ApiCaller, assertError, assertOk } from '../support/api-caller.ts';
import { describePersonalLoans } from '../support/contract-suite.ts';
import { allFixtures } from '../support/vertical-fixtures.ts';

const tooLarge = 'x'.repeat(65 * 1024);
const asText = { 'Content-Type': 'text/plain' };

/**
 * Checks the order in docs/contract.md#order-of-checks, which is the same for all requests. Each request has several errors,
 * and the response must report the first one.
 */
describePersonalLoans('order of checks:', (door) => {
  const { fixture } = door;
  const send = (caller: ApiCaller, method: string, path: string, headers = {}, body = '') =>
    caller.http.send({ method, path: `${caller.basePath}/${path}`, headers, body });

  /** Creates an expired session and a live session. */
  const sessions = async (caller: ApiCaller) => {
    const { sub_id: expired } = await caller.createSession('order');
    door.market.clock.advance(4 * 60 * 60 * 1000);
    return { expired, live: await caller.createSessionWithFields('order', {}) };
  };

  test('checks path and method before the API key', async () => {
    const caller = door.caller();
    assertError(await send(caller, 'POST', 'nothing'), 'NOT_FOUND');
    assertError(await send(caller, 'DELETE', 'session'), 'METHOD_NOT_ALLOWED');
  });

  test('checks the API key before the vertical, the rate limits and the body', async () => {
    const caller = door.caller();
    const unknown = { Authorization: `Bearer ${caller.key.slice(0, -1)}x`, ...asText };
    assertError(await send(caller, 'POST', 'session', unknown, tooLarge), 'UNAUTHORIZED');
    assertError(await send(caller, 'POST', 'session', unknown, '{'), 'UNAUTHORIZED');
    assertError(await send(caller, 'GET', 'marketplace?format=x', unknown), 'UNAUTHORIZED');
  });

  test('checks the vertical before the rate limits and the body', async () => {
    const { market } = door;
    const [elsewhere] = allFixtures.filter(({ vertical }) => vertical !== fixture.vertical);
    const { key } = market.issueKey(elsewhere as (typeof allFixtures)[0], { limits: { requestsPerMinute: 1 } });
    const there = market.callerWithKey(elsewhere as (typeof allFixtures)[0], key);
    await there.createSession('order');
    assertError(await there.post('session', {}), 'RATE_LIMIT_EXCEEDED');
    const here = market.callerWithKey(fixture, key);
    assertError(await here.post('session', tooLarge, asText), 'VERTICAL_MISMATCH');
  });

  test('checks the vertical before the scope, and the scope before the rate limits and the body', async () => {
    const { market } = door;
    const wanted = { scope: 'analytics', limits: { requestsPerMinute: 1 } } as const;
    const caller = door.caller(wanted);
    assertOk(await caller.get('tags', ''));
    assertError(await caller.get('tags', ''), 'RATE_LIMIT_EXCEEDED');
    assertError(await caller.post('session', tooLarge, asText), 'INSUFFICIENT_SCOPE');
    const [elsewhere] = allFixtures.filter(({ vertical }) => vertical !== fixture.vertical);
    const { key } = market.issueKey(elsewhere as (typeof allFixtures)[0], wanted);
    assertError(await market.callerWithKey(fixture, key).post('session', tooLarge, asText), 'VERTICAL_MISMATCH');
  });

  test('checks the rate limits before the body and the query', async () => {
    const caller = door.caller({ limits: { requestsPerMinute: 1 } });
    await caller.createSession('order');
    assertError(await caller.post('session', tooLarge, asText), 'RATE_LIMIT_EXCEEDED');
    assertError(await caller.post('inputs', '{'), 'RATE_LIMIT_EXCEEDED');
    assertError(await caller.get('marketplace', 'format=x'), 'RATE_LIMIT_EXCEEDED');
    assertError(await caller.get('analytics', ''), 'RATE_LIMIT_EXCEEDED');
  });

  test('checks the size of the body, then its type, then its JSON syntax, then its properties', async () => {
    const caller = door.caller();
    for (const operation of ['session', 'inputs'] as const) {
      assertError(await caller.post(operation, tooLarge, asText), 'PAYLOAD_TOO_LARGE');
      assertError(await caller.post(operation, '{', asText), 'UNSUPPORTED_MEDIA_TYPE');
      assertError(await caller.post(operation, '{'), 'INVALID_REQUEST', 'body');
      for (const body of ['[]', '[{}]', '"text"', '7', 'true', 'null']) {
        assertError(await caller.post(operation, body), 'INVALID_REQUEST', 'body');
      }
    }
    const padded = JSON.stringify({ referrer_tag: 'order' }).padEnd(64 * 1024, ' ');
    assertOk(await caller.post('session', padded, { 'Content-Type': 'Application/JSON; charset=utf-8' }));
    assertError(await caller.post('session', `${padded} `), 'PAYLOAD_TOO_LARGE');
  });

  test('checks the parameters of the request before the session', async () => {
    const caller = door.caller();
    const { expired } = await sessions(caller);
    for (const subId of [expired, 'never issued']) {
      assertError(await caller.post('inputs', { sub_id: subId, fields: [] }), 'INVALID_REQUEST', 'fields');
      const shapes: readonly (readonly [query: string, param: string])[] = [
        ['', 'format'],
        ['&format=x', 'format'],
        ['&format=json&sort=x', 'sort'],
        ['&format=json&max_offers=0', 'max_offers'],
        ['&format=json&explain=true', 'explain'],
      ];
      for (const [query, param] of shapes) {
        const answer = await caller.get('marketplace', `sub_id=${encodeURIComponent(subId)}${query}`);
        assertError(answer, 'INVALID_REQUEST', param);
      }
    }
  });

  test('reports an unknown or expired session even if fields are also invalid or missing', async () => {
    const caller = door.caller();
    const { expired, live } = await sessions(caller);
    const fields = { [fixture.amount]: 'wrong' };
    for (const [subId, ofInputs, ofMarketplace] of [
      ['never issued', 'SUB_ID_NOT_FOUND', 'SUB_ID_NOT_FOUND'],
      [expired, 'SUB_ID_EXPIRED', 'SUB_ID_EXPIRED'],
      [live, 'INVALID_FIELD_VALUE', 'INSUFFICIENT_INPUTS'],
    ] as const) {
      assertError(await caller.post('inputs', { sub_id: subId, fields }), ofInputs);
      assertError(await caller.get('marketplace', { sub_id: subId, format: 'json' }), ofMarketplace);
    }
  });
});
