import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatHeader, splitHeaders } from '../../src/http/engines/response-head.ts';

test('a header begins with the end of the line before it', () => {
  assert.equal(formatHeader('Allow', 'GET') + formatHeader('Vary', 'Origin'), '\r\nAllow: GET\r\nVary: Origin');
});

test('no header value can add a line to the head', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', ' ', '\r', '\n', '\t') }), (value) => {
      const line = (): string => formatHeader('X-A', value);
      if (/[\r\n]/.test(value)) assert.throws(line, /X-A/);
      else assert.equal(line().split(/\r\n|\r|\n/).length, 2);
    }),
  );
});

test('the pairs are the names and values it was put together from', () => {
  const value = fc.string({ unit: fc.constantFrom('a', ' ', ':', ';', '"') });
  const headers = fc.array(fc.tuple(fc.constantFrom('A', 'X-B', 'Retry-After'), value), { maxLength: 5 });
  fc.assert(
    fc.property(headers, (pairs) => {
      const text = pairs.map(([name, each]) => formatHeader(name, each)).join('');
      assert.deepEqual(splitHeaders(text), pairs.flat());
    }),
  );
});
