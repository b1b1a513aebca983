import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ApiCaller, assertError, assertOk } from '../support/api-caller.ts';
import { describePersonalLoans } from '../support/contract-suite.ts';
import { ServiceConnection } from '../support/service-connection.ts';

describePersonalLoans('hostile JSON:', (door) => {
  const { fixture } = door;
  /** Runs an attack, then checks that the process still responds and that the key has the expected number of sessions. */
  const attacking = async (attack: (caller: ApiCaller) => Promise<void>, sessionsTotal = 0): Promise<void> => {
    const caller = door.caller({ limits: { analyticsPerMinute: 1_000 } });
    await attack(caller);
    assert.equal((await door.market.operations.send({ path: '/healthz' })).status, 200);
    assert.equal((await caller.summary({ referrer_tag: 'hostile' })).sessions_total, sessionsTotal);
  };

  test('rejects deep nesting in a documented property, and ignores unknown properties with deep nesting', () =>
    attacking(async (caller) => {
      const { sub_id: subId } = await caller.createSession('hostile');
      const depth = 30_000;
      for (const [open, close] of [
        ['[', ']'],
        ['{"a":', '}'],
      ] as const) {
        const levels = open === '[' ? depth : depth / 3;
        const deep = `${open.repeat(levels)}1${close.repeat(levels)}`;
        assertError(await caller.post('session', open.repeat(levels)), 'INVALID_REQUEST', 'body');
        assertError(await caller.post('session', `{"referrer_tag":${deep}}`), 'INVALID_REFERRER_TAG');
        const metadata = `{"referrer_tag":"hostile","metadata":{"a":${deep}}}`;
        assertError(await caller.post('session', metadata), 'INVALID_REQUEST', 'metadata');
        const keyed = { 'Idempotency-Key': `deep-${open}` };
        assertError(await caller.post('session', metadata, keyed), 'INVALID_REQUEST', 'metadata');
        assertError(await caller.post('inputs', `{"sub_id":${deep},"fields":{}}`), 'INVALID_REQUEST', 'sub_id');
        const known = `{"sub_id":"${subId}","fields":{"${fixture.amount}":${deep}}}`;
        assertError(await caller.post('inputs', known), 'INVALID_FIELD_VALUE');
        assertOk(await caller.post('inputs', `{"sub_id":"${subId}","fields":{"unknown":${deep}}}`));
      }
      assertError(await caller.post('session', '['.repeat(60 * 1024)), 'INVALID_REQUEST', 'body');
    }, 1));

  test('rejects an Idempotency-Key that is empty or has a character that is not visible ASCII', () =>
    attacking(async () => {
      const { market } = door;
      const { key } = market.issueKey(fixture);
      const connection = await ServiceConnection.open(market.http.port);
      const body = '{"referrer_tag":"hostile"}';
      // The engine removes a non-ASCII byte at the start or the end of a value with other characters.
      for (const value of ['', '\xe9', '\xc3\xa9', '\xff\xff', 'a\xe9b', 'a b', 'a\tb', 'a\x7fb', 'a'.repeat(256)]) {
        const head = `POST /v1/${fixture.vertical.segment}/session HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${key}\r\n`;
        const rest = `Content-Type: application/json\r\nIdempotency-Key: ${value}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
        connection.send(Buffer.from(head + rest, 'latin1'));
        const response = await connection.response();
        assert.deepEqual(
          [response.status, JSON.parse(response.body.toString()).param],
          [400, 'Idempotency-Key'],
          value,
        );
      }
      connection.close();
    }));

  test('treats __proto__ as an ordinary property name, and uses the last value of a repeated property', () =>
    attacking(async (caller) => {
      const names = '__proto__ constructor prototype toString hasOwnProperty valueOf __defineGetter__'.split(' ');
      const prototyped = '{"__proto__":{"referrer_tag":"hostile"}}';
      assertError(await caller.post('session', prototyped), 'INVALID_REFERRER_TAG');
      const { sub_id: subId } = await caller.createSession('hostile');
      const inherited = `{"__proto__":{"sub_id":"${subId}","fields":{}}}`;
      assertError(await caller.post('inputs', inherited), 'INVALID_REQUEST', 'sub_id');
      const members = names.map((name) => `"${name}":{"${fixture.amount}":5000,"polluted":true}`).join(',');
      const view = assertOk<{ fields_unknown: string[]; fields_accepted: string[] }>(
        await caller.post('inputs', `{"sub_id":"${subId}","fields":{${members}}}`),
      );
      assert.deepEqual([view.fields_accepted, view.fields_unknown], [[], names]);
      const flat = names.map((name) => `"${name}":"x"`).join(',');
      assertOk(await caller.post('session', `{"referrer_tag":"hostile","metadata":{${flat}},${members}}`));
      const nested = '{"referrer_tag":"hostile","metadata":{"__proto__":{"x":1}}}';
      assertError(await caller.post('session', nested), 'INVALID_REQUEST', 'metadata');
      const repeated = '{"referrer_tag":"hostile","referrer_tag":"HOSTILE"}';
      assertError(await caller.post('session', repeated), 'INVALID_REFERRER_TAG');
      assert.equal(({} as Record<string, unknown>).polluted, undefined);
      assert.deepEqual((await caller.submitFields(subId, {})).missing_required, fixture.required);
    }, 2));

  test('rejects bodies with invalid UTF-8 and accepts unusual Unicode characters', () =>
    attacking(async (caller) => {
      const raw = (text: string) => Buffer.from(text, 'latin1');
      for (const bytes of ['\xff\xfe', '\xc3', '\xed\xa0\x80', '\xf8\x88\x80\x80\x80', '\x00', '\xc0\x80']) {
        const inside = await caller.post('session', raw(`{"referrer_tag":"hostile","user_agent":"${bytes}"}`));
        assertError(inside, 'INVALID_REQUEST', 'body');
        assertError(await caller.post('session', raw(`${bytes}{"referrer_tag":"hostile"}`)), 'INVALID_REQUEST', 'body');
      }
      const utf16 = Buffer.from('{"referrer_tag":"hostile"}', 'utf16le');
      assertError(await caller.post('session', utf16), 'INVALID_REQUEST', 'body');
      for (const text of ['\\u0000', '\\ud800', '\\udfff\\ud800', '\\u2028', '\\u202e']) {
        const body = `{"referrer_tag":"hostile","user_agent":"${text}","metadata":{"${text}":"${text}"}}`;
        assertOk(await caller.post('session', body));
      }
    }, 5));

  test('rejects a number that JavaScript cannot represent, such as 1e400 or 2 ** 53 + 1, in a documented property', () =>
    attacking(async (caller) => {
      const digits = '9'.repeat(60_000);
      for (const number of ['1e400', '-1e400', digits]) {
        assertError(await caller.post('session', `{"referrer_tag":${number}}`), 'INVALID_REFERRER_TAG');
        const agent = `{"referrer_tag":"hostile","user_agent":${number}}`;
        assertError(await caller.post('session', agent), 'INVALID_REQUEST', 'user_agent');
        const metadata = `{"referrer_tag":"hostile","metadata":{"n":${number}}}`;
        assertError(await caller.post('session', metadata), 'INVALID_REQUEST', 'metadata');
      }
      for (const integer of [
        '9007199254740992',
        '9007199254740993',
        '-9007199254740993',
        '12345678901234567890',
        '1e20',
      ]) {
        const metadata = `{"referrer_tag":"hostile","metadata":{"fine":1,"n":${integer}}}`;
        assertError(await caller.post('session', metadata), 'INVALID_REQUEST', 'metadata');
      }
    }));

  test('rejects thousands of properties in fields or metadata, and ignores thousands of unknown properties elsewhere', () =>
    attacking(async (caller) => {
      const { sub_id: subId } = await caller.createSession('hostile');
      const members = Array.from({ length: 6_000 }, (_, at) => `"${at}":1`).join(',');
      const fields = `{"sub_id":"${subId}","fields":{${members}}}`;
      assertError(await caller.post('inputs', fields), 'INVALID_REQUEST', 'fields');
      const metadata = `{"referrer_tag":"hostile","metadata":{${members}}}`;
      assertError(await caller.post('session', metadata), 'INVALID_REQUEST', 'metadata');
      assertOk(await caller.post('session', `{"referrer_tag":"hostile",${members}}`));
    }, 2));
});

describePersonalLoans('response headers', (door) => {
  const { fixture } = door;
  test('response headers contain no line breaks from request parameters', async () => {
    const caller = door.caller();
    const { offers } = await caller.offers(await caller.createSessionWithFields('injecting', fixture.complete));
    const click = new URL(offers[0]!.click_url);
    const evil = '%0d%0aX-Injected:%20yes%0d%0a%0d%0a<html>';
    for (const path of [
      `${caller.basePath}/marketplace?sub_id=${evil}&format=json`,
      `${caller.basePath}/analytics?referrer_tag=${evil}`,
      `/c?sub=${evil}&offer=${evil}&v=${evil}`,
      `${click.pathname}${click.search}&x=${evil}`,
      `${click.pathname}${click.search.replace(/offer=[^&]*/, `offer=${evil}`)}`,
      `/${evil}`,
    ]) {
      const answer = await caller.http.send({ path, headers: { Authorization: `Bearer ${caller.key}` } });
      assert.equal(answer.headers.has('x-injected'), false);
      assert.ok(!answer.text.includes('X-Injected'));
    }
  });
});
