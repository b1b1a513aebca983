import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  bodyByteLength,
  formatHeader,
  isBodyless,
  responseHead,
  splitHeaders,
  statusLine,
} from '../../src/http/engines/response-head.ts';

test('a status line has the reason phrase, if there is one', () => {
  assert.equal(statusLine(200), '200 OK');
  assert.equal(statusLine(413), '413 Payload Too Large');
  assert.equal(statusLine(599), '599 ');
  assert.equal(statusLine(999), '999 ');
});

test('a head has the status line, the common headers and the reply’s headers, in order', () => {
  const head = responseHead(
    { status: 404, headers: formatHeader('B', '2') + formatHeader('A', '1'), body: '' },
    'id-1',
  );
  assert.equal(head, '404 Not Found\r\nX-Content-Type-Options: nosniff\r\nX-Request-Id: id-1\r\nB: 2\r\nA: 1');
});

test('the size of a body is in bytes', () => {
  assert.equal(bodyByteLength({ status: 200, headers: '', body: 'né' }), 3);
  assert.equal(bodyByteLength({ status: 200, headers: '', body: new Uint8Array(5) }), 5);
});

test('204 and 304 have no body', () => {
  assert.deepEqual([200, 204, 302, 304, 404].map(isBodyless), [false, true, false, true, false]);
});

test('formats a header with the line end before it', () => {
  assert.equal(formatHeader('Allow', 'GET') + formatHeader('Vary', 'Origin'), '\r\nAllow: GET\r\nVary: Origin');
});

test('rejects a header value with a line break', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', ' ', '\r', '\n', '\t') }), (value) => {
      const line = (): string => formatHeader('X-A', value);
      if (/[\r\n]/.test(value)) assert.throws(line, /X-A/);
      else assert.equal(line().split(/\r\n|\r|\n/).length, 2);
    }),
  );
});

test('splits headers into names and values', () => {
  const value = fc.string({ unit: fc.constantFrom('a', ' ', ':', ';', '"') });
  const headers = fc.array(fc.tuple(fc.constantFrom('A', 'X-B', 'Retry-After'), value), { maxLength: 5 });
  fc.assert(
    fc.property(headers, (pairs) => {
      const text = pairs.map(([name, each]) => formatHeader(name, each)).join('');
      assert.deepEqual(splitHeaders(text), pairs.flat());
    }),
  );
});
