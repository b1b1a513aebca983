import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { personalLoans } from '../../src/index.ts';
import { DocumentCheck } from '../support/document-check.ts';
import type { Answer, HttpRequest } from '../support/http-client.ts';

/** Checks that `DocumentCheck`, which all other tests use, reports errors. */
describe('DocumentCheck', () => {
  const check = new DocumentCheck(personalLoans);
  const id = `sub_${'0'.repeat(64)}`;
  const asked: HttpRequest = {
    method: 'POST',
    path: '/v1/personal-loans/session',
    headers: { 'Idempotency-Key': 'key' },
    body: '{"referrer_tag":"tag","another":1}',
  };
  const body = {
    sub_id: id,
    referrer_tag: 'tag',
    created_at: '2026-05-20T12:00:00.000Z',
    expires_at: '2026-05-20T16:00:00.000Z',
    sandbox: false,
  };
  const headers = {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'x-request-id': '0123456789-1',
    'x-ratelimit-limit': '500',
    'x-ratelimit-remaining': '499',
    'x-ratelimit-reset': '1779278400',
    'ratelimit-policy': '"minute";q=500;w=60',
    ratelimit: '"minute";r=499;t=60',
  };
  const answer = (members: object = {}, sent: object = {}, status = 200): Answer => ({
    status,
    headers: new Map(Object.entries({ ...headers, ...sent }).filter(([, value]) => value !== undefined)),
    text: JSON.stringify({ ...body, ...members }),
  });

  test('accepts a response that conforms to the document', () => {
    check.check(asked, answer());
    assert.ok(check.seen.has('createSession 200'));
  });

  for (const [fault, wrong] of [
    ['a member too many', answer({ more: 1 })],
    ['a member missing', answer({ sandbox: undefined })],
    ['a member of another type', answer({ sandbox: 'no' })],
    ['a time that is none', answer({ created_at: 'today' })],
    ['a header missing', answer({}, { 'x-ratelimit-limit': undefined })],
    ['a header that is no number', answer({}, { 'x-ratelimit-limit': 'many' })],
    ['a header nobody has told of', answer({}, { 'x-more': '1' })],
    ['another media type', answer({}, { 'content-type': 'text/plain' })],
    ['another status', answer({}, {}, 201)],
  ] as const) {
    test(`rejects a response with ${fault}`, () =>
      assert.throws(() => check.check(asked, wrong), assert.AssertionError));
  }

  test('rejects an error code that the operation does not document', () => {
    const error = (code: string): Answer => ({
      ...answer({}, {}, 400),
      text: JSON.stringify({ error: code, message: '' }),
    });
    check.check(asked, error('INVALID_REFERRER_TAG'));
    assert.throws(
      () => check.check(asked, error('INSUFFICIENT_INPUTS')),
      /no INSUFFICIENT_INPUTS of createSession 400/,
    );
  });

  test('rejects an accepted request that the document does not allow', () => {
    for (const wrong of [
      { ...asked, body: '{"referrer_tag":"NO"}' },
      { ...asked, body: '{"referrer_tag":"tag","metadata":{"list":[]}}' },
      { ...asked, headers: { 'Idempotency-Key': 'two words' } },
    ]) {
      assert.throws(() => check.check(wrong, answer()), assert.AssertionError);
    }
  });

  test('rejects an error response to OPTIONS, except to a page of an origin that is not allowed', () => {
    const error = (status: number, code: string): Answer => ({
      status,
      headers: new Map(Object.entries(headers).filter(([name]) => !name.includes('limit'))),
      text: JSON.stringify({ error: code, message: '' }),
    });
    const forbidden = error(403, 'ORIGIN_NOT_ALLOWED');
    check.check({ method: 'OPTIONS', path: '/w/offers' }, forbidden);
    for (const path of ['/c', '/w', '/v1/personal-loans/session']) {
      assert.throws(() => check.check({ method: 'OPTIONS', path }, forbidden), assert.AssertionError);
    }
    const conflict = error(409, 'ORIGIN_NOT_ALLOWED');
    assert.throws(() => check.check({ method: 'OPTIONS', path: '/w/offers' }, conflict), assert.AssertionError);
  });

  test('rejects a 503 response without a body, except for a prefetch', () => {
    const bare: Answer = {
      status: 503,
      headers: new Map([
        ['x-request-id', '0123456789-1'],
        ['cache-control', 'no-store'],
        ['retry-after', '1'],
      ]),
      text: '',
    };
    const path = '/w/offers';
    check.check({ path, headers: { 'Sec-Purpose': 'prefetch' } }, bare);
    assert.throws(() => check.check({ path }, bare), assert.AssertionError);
  });
});
