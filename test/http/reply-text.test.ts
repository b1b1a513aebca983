import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bodyByteLength,
  formatHeader,
  isBodyless,
  responseHead,
  statusLine,
} from '../../src/http/engines/response-head.ts';

test('a status line has the reason phrase where there is one', () => {
  assert.equal(statusLine(200), '200 OK');
  assert.equal(statusLine(413), '413 Payload Too Large');
  assert.equal(statusLine(599), '599 ');
  assert.equal(statusLine(999), '999 ');
});

test('a head is the status line, the headers of every answer and its own, in order', () => {
  const head = responseHead(
    { status: 404, headers: formatHeader('B', '2') + formatHeader('A', '1'), body: '' },
    'id-1',
  );
  assert.equal(head, '404 Not Found\r\nX-Content-Type-Options: nosniff\r\nX-Request-Id: id-1\r\nB: 2\r\nA: 1');
});

test('the size of a body is what it takes on the wire', () => {
  assert.equal(bodyByteLength({ status: 200, headers: '', body: 'né' }), 3);
  assert.equal(bodyByteLength({ status: 200, headers: '', body: new Uint8Array(5) }), 5);
});

test('204 and 304 carry no body', () => {
  assert.deepEqual([200, 204, 302, 304, 404].map(isBodyless), [false, true, false, true, false]);
});
