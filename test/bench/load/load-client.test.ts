import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { autocannonClient, autocannonClientOf } from '../../../bench/load/autocannon-client.ts';
import type { LoadClient, LoadPlan, LoadResult } from '../../../bench/load/load-client.ts';
import { type PreparedRequest, writeRequests } from '../../../bench/load/prepared-request.ts';
import { findWrk } from '../../../bench/load/wrk-client.ts';

const wrk = await findWrk(process.env.PATH ?? '');
const clients: readonly (readonly [name: string, client: LoadClient | null])[] = [
  ['autocannon', autocannonClientOf(1)],
  ['autocannon of three threads', autocannonClientOf(3)],
  ['wrk', wrk],
];

interface Received {
  readonly method: string;
  readonly path: string;
  readonly authorization: string;
  readonly body: string;
}

/** Puts a load on a server that remembers what it was sent. */
async function load(
  client: LoadClient,
  requests: readonly PreparedRequest[],
  plan: Pick<LoadPlan, 'seconds' | 'once' | 'expectedStatus' | 'alsoExpected'>,
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
    test('sends each prepared request once and ends with the last', async () => {
      const { result, received } = await load(client!, numbered, { seconds: 30, once: true, expectedStatus: 200 });
      const paths = received.map(({ path }) => path);
      assert.deepEqual(new Set(paths), new Set(numbered.map(({ path }) => path)));
      // wrk must send something more when it finds the list at its end; that answer it does not count.
      assert.ok(paths.length <= numbered.length + 4, String(paths.length));
      assert.ok(result.requests <= numbered.length && result.requests > numbered.length - 8, String(result.requests));
      assert.ok(result.seconds < 29);
      assert.equal(result.unexpected, 0);
    });

    test('sends method, key and body as prepared', async () => {
      const request: PreparedRequest = { method: 'POST', path: '/p?q=1', key: 'svc_key', body: '{"text":"a b"}' };
      const requests = new Array<PreparedRequest>(4).fill(request);
      const { received } = await load(client!, requests, { seconds: 1, once: false, expectedStatus: 200 });
      for (const each of received) {
        assert.deepEqual(each, {
          method: 'POST',
          path: '/p?q=1',
          authorization: 'Bearer svc_key',
          body: '{"text":"a b"}',
        });
      }
    });

    test('begins again from the first request until its time is over', async () => {
      const { result, received } = await load(client!, numbered.slice(0, 8), {
        seconds: 1,
        once: false,
        expectedStatus: 200,
      });
      assert.ok(result.requests > 8, String(result.requests));
      assert.equal(new Set(received.map(({ path }) => path)).size, 8);
    });

    test('counts refusals as unexpected', async () => {
      const status = (path: string) => (Number(path.slice(1)) % 2 === 0 ? 200 : 429);
      const { result } = await load(client!, numbered, { seconds: 1, once: false, expectedStatus: 200 }, status);
      assert.ok(result.unexpected > 0 && result.unexpected < result.requests);
    });
  });
}

test('autocannon takes other statuses for right where it is told so', async () => {
  const plan = { seconds: 1, once: true, expectedStatus: 200, alsoExpected: [302] };
  const { result } = await load(autocannonClient, numbered, plan, (path) => (path.endsWith('7') ? 302 : 200));
  assert.equal(result.requests, 400);
  assert.equal(result.unexpected, 0);
});

test('autocannon says how many threads it sent from: not more than it has connections', async () => {
  const plan = { seconds: 1, once: true, expectedStatus: 200 };
  const { result } = await load(autocannonClientOf(6), numbered, plan);
  assert.equal(result.clientThreads, 4);
  assert.ok(result.clientCpuSeconds > 0);
});

test('autocannon tells any other status from the expected one', async () => {
  const plan = { seconds: 1, once: false, expectedStatus: 302 };
  const { result } = await load(autocannonClient, numbered, plan, () => 200);
  assert.equal(result.unexpected, result.requests);
});
