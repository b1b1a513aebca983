import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertOk, assertRefused } from '../support/api-caller.ts';
import { describePersonalLoans } from '../support/contract-suite.ts';
import { marker } from '../support/http-client.ts';

const maxBytes = 64 * 1024;

describePersonalLoans('the body of a POST', (door) => {
  test('accepts a body with the content type application/json, with or without parameters, in any case', async () => {
    const caller = door.market.caller(door.fixture);
    const types = [
      'application/json',
      'application/json; charset=utf-8',
      'application/json;charset=x',
      'Application/JSON',
    ];
    for (const type of types) {
      assertOk(await caller.post('session', { referrer_tag: 'types' }, { 'Content-Type': type }));
    }
  });

  test('rejects a body with any other content type', async () => {
    const caller = door.market.caller(door.fixture);
    const { sub_id: subId } = await caller.createSession('types');
    const types = [
      '',
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/jsonx',
      'application/json-patch+json',
    ];
    for (const type of [...types, 'multipart/form-data; boundary=application/json', `text/${marker}`, 'json']) {
      const headers = { 'Content-Type': type };
      assertRefused(await caller.post('session', { referrer_tag: 'types' }, headers), 'UNSUPPORTED_MEDIA_TYPE');
      assertRefused(await caller.post('inputs', { sub_id: subId, fields: {} }, headers), 'UNSUPPORTED_MEDIA_TYPE');
    }
    assert.equal((await caller.summary({ referrer_tag: 'types' })).sessions_total, 1);
  });

  test('accepts a body of up to 64 KiB, also in chunks', async () => {
    const caller = door.market.caller(door.fixture);
    const sized = (bytes: number) => JSON.stringify({ referrer_tag: 'sizes' }).padEnd(bytes, ' ');
    assertOk(await caller.post('session', sized(maxBytes)));
    assertRefused(await caller.post('session', sized(maxBytes + 1)), 'PAYLOAD_TOO_LARGE');
    assertRefused(await caller.post('inputs', sized(maxBytes + 1)), 'PAYLOAD_TOO_LARGE');
    const chunked = (bytes: number) =>
      caller.http.send({
        method: 'POST',
        path: `${caller.basePath}/session`,
        headers: {
          Authorization: `Bearer ${caller.key}`,
          'Content-Type': 'application/json',
          'Transfer-Encoding': 'chunked',
        },
        body: sized(bytes),
      });
    assertOk(await chunked(maxBytes));
    assertRefused(await chunked(maxBytes + 1), 'PAYLOAD_TOO_LARGE');
    assert.equal((await caller.summary({ referrer_tag: 'sizes' })).sessions_total, 2);
  });

  test('rejects a body that is not a JSON object', async () => {
    const caller = door.market.caller(door.fixture);
    const invalid = ['', ' ', '{', '}', '{"a":1', "{'a':1}", '{"a":1,}', '\u0000', 'undefined', 'NaN', `"${marker}`];
    for (const body of [...invalid, '[]', '[{}]', '"text"', '7', 'true', 'null', `{"${marker}":1}{}`]) {
      for (const operation of ['session', 'inputs'] as const) {
        assertRefused(await caller.post(operation, body), 'INVALID_REQUEST', 'body');
      }
    }
  });
});
