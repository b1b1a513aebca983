import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  formatRequestLine,
  type PreparedRequest,
  parseRequestLine,
  readRequests,
  requestHeaders,
  writeRequests,
} from '../../../bench/load/prepared-request.ts';

const post: PreparedRequest = { method: 'POST', path: '/v1/x', key: 'svc_pl_live_1', body: '{"a":"b  c","d":" "}' };
const get: PreparedRequest = { method: 'GET', path: '/c?sub=1&offer=2' };

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

test('reads requests from a file in their original order', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-requests-'));
  try {
    const requests = Array.from({ length: 5_000 }, (_, i) => ({ ...(i % 2 === 0 ? post : get), path: `/${i}` }));
    await writeRequests(join(folder, 'requests'), requests);
    assert.deepEqual(await readRequests(join(folder, 'requests')), requests);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('sends the key as a bearer token and the body as JSON, and adds no default key or body', () => {
  assert.deepEqual(requestHeaders(post), {
    authorization: 'Bearer svc_pl_live_1',
    'content-type': 'application/json',
  });
  assert.deepEqual(requestHeaders(get), {});
});
