import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatRequestLine, parseRequestLine } from '../../../bench/load/prepared-request.ts';

test('restores any request, with any JSON body, from its line in a request file', () => {
  const request = fc.record(
    {
      method: fc.constantFrom('GET' as const, 'POST' as const),
      path: fc.webPath().map((path) => `/${path}`),
      key: fc.stringMatching(/^[a-z0-9_]{1,20}$/),
      body: fc.json(),
    },
    { requiredKeys: ['method', 'path'], noNullPrototype: true },
  );
  fc.assert(
    fc.property(request, (value) => {
      const line = formatRequestLine(value);
      assert.ok(!line.includes('\n'));
      assert.deepEqual(parseRequestLine(line), value);
    }),
  );
});
