import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatHeader, splitHeaderLines } from '../../src/http/engines/response-head.ts';

test('formatHeader rejects a header value with a line break', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', ' ', '\r', '\n', '\t') }), (value) => {
      const line = (): string => formatHeader('X-A', value);
      if (/[\r\n]/.test(value)) assert.throws(line, /X-A/);
      else assert.equal(line().split(/\r\n|\r|\n/).length, 2);
    }),
  );
});

test('splitHeaderLines parses the text of formatHeader into header names and values', () => {
  const value = fc.string({ unit: fc.constantFrom('a', ' ', ':', ';', '"') });
  const headers = fc.array(fc.tuple(fc.constantFrom('A', 'X-B', 'Retry-After'), value), { maxLength: 5 });
  fc.assert(
    fc.property(headers, (pairs) => {
      const text = pairs.map(([name, each]) => formatHeader(name, each)).join('');
      assert.deepEqual(splitHeaderLines(text), pairs.flat());
    }),
  );
});
