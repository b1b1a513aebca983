import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { autocannonClient } from '../../../bench/load/autocannon-client.ts';
import { findWrkClient, type LoadClient, type LoadPlan } from '../../../bench/load/load-clients.ts';
import { type PreparedRequest, writeRequestFile } from '../../../bench/load/prepared-request.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { asReceived, startRecordingServer } from '../support/recording-server.ts';

const wrk = await findWrkClient();
const clients: readonly (readonly [name: string, client: LoadClient | null])[] = [
  ['autocannon', autocannonClient],
  ['wrk', wrk],
];

/** Runs a load against a server that records the requests. */
async function load(
  t: TestContext,
  client: LoadClient,
  requests: readonly PreparedRequest[],
  plan: Pick<LoadPlan, 'seconds' | 'singleUse' | 'alsoExpected'>,
  statusOf: (path: string) => number = () => 200,
) {
  const { port, received } = await startRecordingServer(t, statusOf);
  const requestsFile = join(temporaryFolder(t), 'requests');
  await writeRequestFile(requestsFile, requests);
  const result = await client.run({ ...plan, port, requestsFile, connections: 4, expectedStatus: 200 });
  return { result, received: new Set(received), receivedCount: received.length };
}

const numbered = Array.from({ length: 400 }, (_, i) => ({ method: 'GET' as const, path: `/${i}`, key: `key_${i}` }));

for (const [name, client] of clients) {
  describe(name, { skip: client === null && 'it is not on PATH' }, () => {
    test('sends each prepared request once and ends with the last request', async (t) => {
      const { result, received, receivedCount } = await load(t, client!, numbered, { seconds: 200, singleUse: true });
      assert.deepEqual(received, new Set(numbered.map(asReceived)));
      // wrk sends one more request at the end of the list, and does not count its response.
      assert.ok(receivedCount <= numbered.length + 4, String(receivedCount));
      assert.ok(result.requests <= numbered.length && result.requests > numbered.length - 8, String(result.requests));
      assert.ok(result.seconds < 199);
      assert.equal(result.unexpected, 0);
    });

    test('sends the prepared requests unchanged and in a loop, and counts responses with an unexpected status', async (t) => {
      const queries = numbered.slice(0, 4);
      const posts = queries.map((query) => ({ ...query, method: 'POST', body: '{"text":"a b"}' }) as const);
      const requests: readonly PreparedRequest[] = [...queries, ...posts];
      const prepared = new Set(requests.map(asReceived));
      const statusOf = (path: string) => (path === '/0' ? 429 : 200);
      let loaded: Awaited<ReturnType<typeof load>>;
      // Doubles the duration until the client reaches the end of the list, also on a slow machine.
      let seconds = 0.2;
      do {
        loaded = await load(t, client!, requests, { seconds, singleUse: false }, statusOf);
        seconds *= 2;
      } while (
        seconds < 60 &&
        (loaded.received.size < prepared.size ||
          loaded.result.requests <= prepared.size ||
          loaded.result.unexpected === 0)
      );
      const { result, received } = loaded;
      assert.deepEqual(received, prepared);
      assert.ok(result.requests > prepared.size, String(result.requests));
      assert.ok(result.unexpected > 0 && result.unexpected < result.requests, String(result.unexpected));
    });
  });
}

test('the autocannon client accepts any of several expected statuses', async (t) => {
  const plan = { seconds: 60, singleUse: true, alsoExpected: [302] };
  const statusOf = (path: string) => (path.endsWith('7') ? 302 : path.endsWith('3') ? 204 : 200);
  const { result } = await load(t, autocannonClient, numbered, plan, statusOf);
  assert.deepEqual([result.requests, result.unexpected], [400, 40]);
  assert.ok(result.clientCpuSeconds > 0);
});
