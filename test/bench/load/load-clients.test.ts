import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { autocannonClient } from '../../../bench/load/autocannon-client.ts';
import { findWrkClient, type LoadClient, type LoadPlan, type LoadResult } from '../../../bench/load/load-clients.ts';
import { type PreparedRequest, writeRequests } from '../../../bench/load/prepared-request.ts';

const wrk = await findWrkClient();
const clients: readonly (readonly [name: string, client: LoadClient | null])[] = [
  ['autocannon', autocannonClient],
  ['wrk', wrk],
];

interface Received {
  readonly method: string;
  readonly path: string;
  readonly authorization: string;
  readonly type: string;
  readonly body: string;
}

/** Runs a load against a server that records the requests. */
async function load(
  client: LoadClient,
  requests: readonly PreparedRequest[],
  plan: Pick<LoadPlan, 'seconds' | 'singleUse' | 'expectedStatus' | 'alsoExpected'>,
  statusOf: (path: string) => number = () => 200,
): Promise<{ result: LoadResult; received: Received[] }> {
  const received: Received[] = [];
  const server = createServer((req, res) => {
    let body = '';
    req.on('data', (chunk) => {
      body += chunk;
    });
    req.on('end', () => {
      received.push({
        method: req.method!,
        path: req.url!,
        authorization: req.headers.authorization ?? '',
        type: req.headers['content-type'] ?? '',
        body,
      });
      res.writeHead(statusOf(req.url!)).end('ok');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const folder = await mkdtemp(join(tmpdir(), 'bench-load-'));
  try {
    const requestsFile = join(folder, 'requests');
    await writeRequests(requestsFile, requests);
    const result = await client.run({
      ...plan,
      port: (server.address() as AddressInfo).port,
      requestsFile,
      connections: 4,
    });
    return { result, received };
  } finally {
    server.closeAllConnections();
    server.close();
    await rm(folder, { recursive: true });
  }
}

const numbered = Array.from({ length: 400 }, (_, i) => ({ method: 'GET' as const, path: `/${i}`, key: `key_${i}` }));

for (const [name, client] of clients) {
  describe(name, { skip: client === null && 'it is not on PATH' }, () => {
    test('sends each prepared request once and ends with the last request', async () => {
      const { result, received } = await load(client!, numbered, {
        seconds: 200,
        singleUse: true,
        expectedStatus: 200,
      });
      const paths = received.map(({ path }) => path);
      assert.deepEqual(new Set(paths), new Set(numbered.map(({ path }) => path)));
      // wrk sends one more request at the end of the list, and does not count its response.
      assert.ok(paths.length <= numbered.length + 4, String(paths.length));
      assert.ok(result.requests <= numbered.length && result.requests > numbered.length - 8, String(result.requests));
      assert.ok(result.seconds < 199);
      assert.equal(result.unexpected, 0);
    });

    test('sends the prepared requests unchanged and in a loop, and counts responses with an unexpected status', async () => {
      const requests: readonly PreparedRequest[] = [
        ...numbered.slice(0, 4),
        ...numbered
          .slice(0, 4)
          .map(({ path, key }) => ({ method: 'POST', path, key, body: '{"text":"a b"}' }) as const),
      ];
      const prepared = new Set(
        requests.map(({ method, path, key, body = '' }) =>
          JSON.stringify({ method, path, authorization: `Bearer ${key}`, type: body && 'application/json', body }),
        ),
      );
      const statusOf = (path: string) => (path === '/0' ? 429 : 200);
      let result: LoadResult;
      let sent: Set<string>;
      // Doubles the duration until the client reaches the end of the list, also on a slow machine.
      let seconds = 0.2;
      do {
        const loaded = await load(client!, requests, { seconds, singleUse: false, expectedStatus: 200 }, statusOf);
        result = loaded.result;
        sent = new Set(loaded.received.map((each) => JSON.stringify(each)));
        seconds *= 2;
      } while (
        seconds < 60 &&
        (sent.size < prepared.size || result.requests <= prepared.size || result.unexpected === 0)
      );
      assert.deepEqual(sent, prepared);
      assert.ok(result.requests > prepared.size, String(result.requests));
      assert.ok(result.unexpected > 0 && result.unexpected < result.requests, String(result.unexpected));
    });
  });
}

test('accepts several expected statuses with autocannon', async () => {
  const plan = { seconds: 60, singleUse: true, expectedStatus: 200, alsoExpected: [302] };
  const statusOf = (path: string) => (path.endsWith('7') ? 302 : path.endsWith('3') ? 204 : 200);
  const { result } = await load(autocannonClient, numbered, plan, statusOf);
  assert.deepEqual([result.requests, result.unexpected], [400, 40]);
  assert.ok(result.clientCpuSeconds > 0);
});
