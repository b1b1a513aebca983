import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ApiCaller } from '../support/api-caller.ts';
import { describePersonalLoans } from '../support/contract-suite.ts';
import { type Answer, marker } from '../support/http-client.ts';

/** Sends the marker in every part of a request. The HTTP client fails the test if an error contains the marker. */
describePersonalLoans('error messages', (door) => {
  const requests: Readonly<Record<string, (caller: ApiCaller, subId: string) => Promise<Answer>>> = {
    path: ({ http, basePath }) => http.send({ path: `${basePath}/${marker}` }),
    'path outside the API': ({ http }) => http.send({ path: `/${marker}?${marker}=${marker}` }),
    vertical: ({ http }) => http.send({ path: `/v1/${marker}/session` }),
    method: ({ http, basePath }) => http.send({ method: 'PURGE', path: `${basePath}/session?${marker}` }),
    key: (caller) => caller.get('analytics', 'x=1', { Authorization: `Bearer ${marker}` }),
    'content type': (caller) => caller.post('session', marker, { 'Content-Type': `text/${marker}` }),
    'malformed JSON': (caller) => caller.post('session', `{"${marker}": ${marker}`),
    'body of another type': (caller) => caller.post('inputs', `"${marker}"`),
    tag: (caller) => caller.post('session', { referrer_tag: `${marker}!` }),
    'user agent': (caller) => caller.post('session', { referrer_tag: 'abc', user_agent: [marker] }),
    'metadata name and value': (caller) =>
      caller.post('session', { referrer_tag: 'abc', metadata: { [marker]: { [marker]: marker } } }),
    'idempotency key': (caller) =>
      caller.post('session', { referrer_tag: 'abc' }, { 'Idempotency-Key': `${marker} ${marker}` }),
    'sub_id in a body': (caller) => caller.post('inputs', { sub_id: marker, fields: {} }),
    'fields of another type': (caller, subId) => caller.post('inputs', { sub_id: subId, fields: marker }),
    'every field at once': (caller, subId) => {
      const values = door.fixture.fields.map(({ name }) => [name, marker]);
      return caller.post('inputs', { sub_id: subId, fields: { ...Object.fromEntries(values), [marker]: marker } });
    },
    'names of fields': (caller, subId) =>
      caller.post('inputs', { sub_id: subId, fields: { [marker.repeat(10)]: marker } }),
    'sub_id in a query': (caller) => caller.get('marketplace', { sub_id: marker, format: 'json' }),
    format: (caller, subId) => caller.get('marketplace', { sub_id: subId, format: marker }),
    sort: (caller, subId) => caller.get('marketplace', { sub_id: subId, format: 'json', sort: marker }),
    max_offers: (caller, subId) => caller.get('marketplace', { sub_id: subId, format: 'json', max_offers: marker }),
    explain: (caller, subId) => caller.get('marketplace', { sub_id: subId, format: 'json', explain: marker }),
    'analytics tag': (caller) => caller.get('analytics', { referrer_tag: `${marker}!` }),
    limit: (caller) => caller.get('analytics', { referrer_tag: 'abc', granularity: 'row', limit: marker }),
    cursor: (caller) => caller.get('analytics', { referrer_tag: 'abc', granularity: 'row', cursor: marker }),
    date: (caller) => caller.get('analytics', { referrer_tag: 'abc', date_from: marker }),
    granularity: (caller) => caller.get('analytics', { referrer_tag: 'abc', granularity: marker }),
    'list of ids': (caller) => caller.get('analytics', { sub_id_list: `${marker},`.repeat(501) }),
    'header names and values': (caller) =>
      caller.get('analytics', '', { [`X-${marker}`]: marker, Origin: `https://${marker}`, 'X-Request-Id': marker }),
    'click link': ({ http }) => http.send({ path: `/c?sub=${marker}&offer=${marker}&v=${marker}` }),
  };

  for (const [part, send] of Object.entries(requests)) {
    test(`error messages do not contain text submitted as ${part}`, async () => {
      const caller = door.market.caller(door.fixture);
      const { sub_id: subId } = await caller.createSession('echoes');
      const { status, text } = await send(caller, subId);
      assert.ok(status >= 400 && status < 500, `${status} ${text}`);
      assert.ok(text.length > 0);
    });
  }
});
