import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SentRequests } from '../support/sent-requests.ts';

function taken(count: number, ...bytes: readonly string[]): unknown[] {
  const sent = new SentRequests();
  for (const piece of bytes) sent.add(piece);
  return Array.from({ length: count }, () => {
    const asked = sent.take();
    return asked && [asked.method, asked.path, asked.body?.toString()];
  });
}

const get = 'GET /a?b=c HTTP/1.1\r\nHost: test\r\n\r\n';
const post = (headers: string, body: string) => `POST /d HTTP/1.1\r\n${headers}\r\n\r\n${body}`;

test('requests are read one by one, in pieces and with empty lines between them', () => {
  const all = `${get}\r\n\r\n${post('content-length: 3', 'one')}${get}`;
  const expected = [
    ['GET', '/a?b=c', ''],
    ['POST', '/d', 'one'],
    ['GET', '/a?b=c', ''],
  ];
  assert.deepEqual(taken(3, all), expected);
  assert.deepEqual(taken(3, ...all), expected);
});

test('a request answered early has as much of its body as was sent', () => {
  assert.deepEqual(taken(1, post('Content-Length: 10', 'half')), [['POST', '/d', 'half']]);
});

test('after a length that can be read in two ways nothing is read any more', () => {
  for (const headers of [
    'Content-Length: 3\r\nContent-Length: 3',
    'Content-Length: +3',
    'Transfer-Encoding: chunked',
    'Content-Length: 3\r\nno header',
  ]) {
    assert.deepEqual(taken(2, post(headers, get)), [['POST', '/d', get], null]);
  }
});

test('what has no request line is no request, and nothing after it is one', () => {
  for (const line of ['GET /a', 'GET  /a HTTP/1.1', 'GET http://a/ HTTP/1.1', '\x16\x03\x01']) {
    assert.deepEqual(taken(2, `${line}\r\n\r\n${get}`), [null, null]);
  }
});
