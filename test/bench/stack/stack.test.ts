import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { quickBenchScale } from '../../../bench/bench-part.ts';
import { HttpCaller } from '../../../bench/load/http-caller.ts';
import { runOpenLoop } from '../../../bench/open-loop/run-open-loop.ts';
import { basePath, sessionRequest, submitInputsRequest } from '../../../bench/scenarios/requests.ts';
import { stackBenchPart } from '../../../bench/stack/stack-part.ts';
import { findStackProblem, startStack } from '../../../bench/stack/start-stack.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { countedClient, silentProgress } from '../support/counted-load.ts';

const skip = findStackProblem() ?? false;
const folder = temporaryFolder();
// PostgreSQL runs as another user than root, and its data folder is in this folder.
chmodSync(folder, 0o755);

test('compares four routes, stops all processes and deletes all files', { skip }, async () => {
  const { stack } = await stackBenchPart.measure({
    scale: { ...quickBenchScale, connections: 8, roundRequests: 160, keys: 50 },
    quick: true,
    client: countedClient,
    sendOpenLoop: runOpenLoop,
    folder,
    progress: silentProgress,
  });
  assert.deepEqual(
    stack!.map(({ name, service, stack }) => [name, service.length, stack.length]),
    ['session', 'inputs', 'marketplace-known', 'click'].map((name) => [name, 1, 1]),
  );
  const rounds = stack!.flatMap((comparison) => comparison.stack);
  const sum = (of: (round: (typeof rounds)[number]) => number) => rounds.reduce((total, round) => total + of(round), 0);
  // The CPU time of all processes includes that of Redis and PostgreSQL.
  assert.ok(sum(({ cpuMicros }) => cpuMicros!) > 1.2 * sum(({ mainThreadCpuMicros }) => mainThreadCpuMicros!));
  assert.deepEqual(await readdir(folder), []);
});

test('the comparison server keeps the promises of the routes', { skip }, async (t) => {
  const key = 'svc_pl_live_any';
  const offer = { id: 'one', head: '{"click_url":"', tail: '"}', lenderUrl: 'https://lender.example/' };
  const target = await startStack(folder, { keys: [key], offers: [offer], envelope: '"a":1', basePath, headers: {} });
  t.after(() => target.close());
  const caller = new HttpCaller(target.port, 1);
  t.after(() => caller.close());
  const send = async (request: Parameters<HttpCaller['sendRequests']>[0][number]) =>
    (await caller.sendRequests([request]))[0]!;

  assert.equal((await send(sessionRequest('svc_pl_live_other'))).status, 401);
  const { sub_id: subId } = JSON.parse((await send(sessionRequest(key))).body) as { sub_id: string };
  const session = { subId, key, borrower: {} as never };
  assert.equal((await send(submitInputsRequest(session, { annual_income: 5 }))).status, 200);
  assert.equal((await send(submitInputsRequest(session, { annual_income: -1 }))).status, 400);
  assert.equal((await send(submitInputsRequest({ ...session, subId: 'other' }, { annual_income: 5 }))).status, 404);
  const path = `${basePath}/marketplace?sub_id=${subId}&format=json&max_offers=5`;
  const { offers } = JSON.parse((await send({ method: 'GET', path, key })).body) as {
    offers: [{ click_url: string }];
  };
  const { pathname, search } = new URL(offers[0].click_url);
  assert.equal((await send({ method: 'GET', path: pathname + search })).status, 302);
  assert.equal((await send({ method: 'GET', path: `${pathname}${search}x` })).status, 404);
  const statuses = new Set<number>();
  for (let sent = 0; sent < 1_000 && !statuses.has(429); sent++) statuses.add((await send(sessionRequest(key))).status);
  assert.deepEqual([...statuses], [200, 429]);
});
