import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { HttpCaller } from '../../../bench/load/http-caller.ts';

test('counts responses by status, from the requested number of connections', async (t) => {
  const paths = new Map<string, number>();
  const waiting: (() => void)[] = [];
  const server = createServer((req, res) => {
    paths.set(req.url!, (paths.get(req.url!) ?? 0) + 1);
    const answer = () => {
      res.writeHead(req.url === '/admitted' ? 200 : 429).end();
    };
    // The server responds to the first five requests together, so these requests need different connections.
    if (waiting.length === 5) {
      answer();
      return;
    }
    waiting.push(answer);
    if (waiting.length === 5) for (const each of waiting) each();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const caller = new HttpCaller((server.address() as AddressInfo).port, 5);
  t.after(() => {
    caller.close();
    server.close();
  });
  const requests = ['/admitted', '/refused', '/refused'].map((path) => ({ method: 'GET', path }) as const);
  const counts = await caller.countStatuses(requests, 20);
  assert.deepEqual([...counts].sort(), [
    [200, 7],
    [429, 13],
  ]);
  assert.deepEqual([...paths].sort(), [
    ['/admitted', 7],
    ['/refused', 13],
  ]);
  assert.equal(caller.openConnections, 5);
});
