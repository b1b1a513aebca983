import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prepareLoadPoint } from '../../../bench/curves/load-point.ts';
import type { PreparedRequest } from '../../../bench/load/prepared-request.ts';
import { runOpenLoop } from '../../../bench/open-loop/run-open-loop.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { asReceived, startRecordingServer } from '../support/recording-server.ts';

test('sends every request on schedule from a separate process to a real server, and counts the responses', async (t) => {
  const { port, received } = await startRecordingServer(t, (path) => (path === '/p' ? 503 : 200));
  const requests: readonly PreparedRequest[] = [
    { method: 'GET', path: '/known?q=1', key: 'key_1' },
    { method: 'POST', path: '/p', key: 'key_2', body: '{"a":"é b"}' },
  ];
  const load = { requests, singleUse: false, warmUpSeconds: 0, seconds: 0.1 };
  const plan = await prepareLoadPoint({ folder: temporaryFolder(t) }, { port }, 200, load);
  const result = await runOpenLoop({ ...plan, connections: 3, deadlineMs: 60_000 });
  assert.deepEqual([result.due, result.expected, result.refused, result.answered], [20, 10, 10, 20]);
  // Requests on different connections can arrive in another order.
  const sent = Array.from({ length: 10 }, () => requests.map(asReceived)).flat();
  assert.deepEqual(received.toSorted(), sent.toSorted());
});
