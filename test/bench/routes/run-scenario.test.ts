import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { quickBenchScale } from '../../../bench/bench-part.ts';
import { benchServerKinds } from '../../../bench/result/bench-result.ts';
import { type RunScenarioOptions, rotateServerOrder, runScenario } from '../../../bench/routes/run-scenario.ts';
import { sessionRequest } from '../../../bench/scenarios/requests.ts';
import { clickScenario, sessionCreationScenario } from '../../../bench/scenarios/route-scenarios.ts';
import type { Scenario } from '../../../bench/scenarios/scenario.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { countedClient, silentProgress } from '../support/counted-load.ts';

const folder = temporaryFolder();

const options: RunScenarioOptions = {
  scale: { ...quickBenchScale, connections: 8, roundRequests: 160, keys: 50 },
  client: countedClient,
  folder,
  progress: silentProgress,
};

test('runs the same load on every server, then deletes all files and stops all processes', async () => {
  const [result, ...others] = await runScenario(clickScenario, options);
  assert.deepEqual(others, []);
  assert.deepEqual(
    result!.servers.map(({ kind, rounds }) => [kind, rounds.length]),
    benchServerKinds.map((kind) => [kind, 1]),
  );
  const [service, ...baselines] = result!.servers.map(({ rounds }) => rounds[0]!);
  assert.equal(service!.requests, 160);
  assert.ok(baselines.every(({ requests }) => requests > 0));
  assert.ok([service!, ...baselines].every(({ process }) => process!.heapUsedMiB > 0));
  assert.deepEqual(await readdir(folder), []);
});

test('does not measure the baseline server "synced" for a scenario without durable writes', async () => {
  const wrk = { ...countedClient, name: 'wrk' } as const;
  const results = await runScenario({ ...sessionCreationScenario, durable: false }, { ...options, crossCheck: wrk });
  assert.deepEqual(
    results.map(({ client, servers }) => [client, servers.map(({ kind, rounds }) => [kind, rounds.length])]),
    ['autocannon', 'wrk'].map((client) => [
      client,
      benchServerKinds.filter((kind) => kind !== 'synced').map((kind) => [kind, 1]),
    ]),
  );
});

test('aborts the run after an unexpected response, stops all processes and deletes all files', async () => {
  let prepared = 0;
  const scenario: Scenario = {
    ...sessionCreationScenario,
    // The server accepts the sample request, but rejects the load.
    prepareRequests: async (stage, round) =>
      prepared++ === 0
        ? sessionCreationScenario.prepareRequests(stage, round)
        : [sessionRequest('svc_pl_live_unknown')],
  };
  await assert.rejects(
    runScenario(scenario, options),
    /session: load on service: \d+ of \d+ replies did not have status 200/,
  );
  assert.deepEqual(await readdir(folder), []);
});

test('each round runs every server once, and the first server and the order of the servers change between rounds', () => {
  for (const count of [1, 2, 3, 5]) {
    for (let round = 0; round < 9; round++) {
      const servers = Array.from({ length: count }, (_, at) => at);
      assert.deepEqual(rotateServerOrder(servers, round).toSorted(), servers);
    }
  }
  const servers = ['a', 'b', 'c', 'd'];
  const rounds = Array.from({ length: 4 }, (_, round) => rotateServerOrder(servers, round));
  assert.deepEqual(rounds.map(([first]) => first).toSorted(), servers);
  for (const server of servers) {
    const before = new Set(rounds.flatMap((round) => round[round.indexOf(server) - 1] ?? []));
    assert.ok(before.size > 1, `${server} always comes after ${[...before]}`);
  }
});
