import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatRequestLine, parseRequestLine } from '../../../bench/load/prepared-request.ts';

test('a request with any JSON body can be written to a file and read back unchanged', () => {
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
