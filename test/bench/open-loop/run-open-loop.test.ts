import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { planLoad } from '../../../bench/curves/load-point.ts';
import type { PreparedRequest } from '../../../bench/load/prepared-request.ts';
import { runOpenLoop } from '../../../bench/open-loop/run-open-loop.ts';
import { createFolder } from '../../cli/sample-data-folder.ts';

test('sends every request on schedule from a separate process to a real server, and counts the responses', async (t) => {
  const received: unknown[] = [];
  const server = createServer(async (req, res) => {
    const body = (await req.setEncoding('utf8').toArray()).join('');
    received.push({ method: req.method, path: req.url, authorization: req.headers.authorization, body });
    res.writeHead(req.method === 'GET' ? 200 : 503, { 'content-length': 2 }).end('ok');
  }).listen(0, '127.0.0.1');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const requests: readonly PreparedRequest[] = [
    { method: 'GET', path: '/known?q=1', key: 'key_1' },
    { method: 'POST', path: '/p', key: 'key_2', body: '{"a":"é b"}' },
  ];

  const target = { port: (server.address() as AddressInfo).port };
  const load = { requests, singleUse: false, warmUpSeconds: 0, seconds: 0.1 };
  const plan = await planLoad({ folder: createFolder(t) }, target, 200, load);
  const result = await runOpenLoop({ ...plan, connections: 3, deadlineMs: 60_000 });
  assert.deepEqual([result.due, result.expected, result.refused, result.answered], [20, 10, 10, 20]);
  const sent = requests.map(({ method, path, key, body = '' }) => ({
    method,
    path,
    authorization: `Bearer ${key}`,
    body,
  }));
  // Requests on different connections can arrive in another order.
  assert.deepEqual(sorted(received), sorted(Array.from({ length: 10 }, () => sent).flat()));
});

function sorted(list: readonly unknown[]): string[] {
  return list.map((each) => JSON.stringify(each)).sort();
}
