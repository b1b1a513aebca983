import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { autocannonClient } from '../../bench/load/autocannon-client.ts';
import { Progress } from '../../bench/progress.ts';
import { type RunOptions, runScenario } from '../../bench/runner.ts';
import { quickScale } from '../../bench/scale.ts';
import { sessionRequest } from '../../bench/scenarios/borrowers.ts';
import { clickScenario } from '../../bench/scenarios/click.ts';
import type { Scenario } from '../../bench/scenarios/scenario.ts';
import { sessionScenario } from '../../bench/scenarios/session.ts';
import { generateCatalog } from '../support/random-catalog.ts';

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bench-runner-'));
});
after(() => rm(folder, { recursive: true }));

function options(): RunOptions {
  return {
    scale: { ...quickScale, connections: 8, roundRequests: 160, keys: 50 },
    client: autocannonClient,
    folder,
    progress: new Progress({ isTTY: false, write: () => true } as unknown as NodeJS.WriteStream),
    catalog: (offers) => JSON.stringify(generateCatalog(1, offers)),
  };
}

test('a scenario puts its load on both servers, and leaves nothing behind', async () => {
  const result = await runScenario(clickScenario, options());
  assert.deepEqual(
    result.servers.map(({ kind, rounds }) => [kind, rounds.length]),
    [
      ['service', 1],
      ['bare', 1],
    ],
  );
  assert.equal(result.servers[0]!.rounds[0]!.requests, 160);
  assert.ok(result.servers[1]!.rounds[0]!.requests > 0);
  assert.deepEqual(await readdir(folder), []);
});

test('an answer that was not the expected one fails the run, and leaves nothing behind', async () => {
  let prepared = 0;
  const scenario: Scenario = {
    ...sessionScenario,
    // The sample goes through, the load itself is refused.
    prepare: async (stage, round) =>
      prepared++ === 0 ? sessionScenario.prepare(stage, round) : [sessionRequest('svc_pl_live_unknown')],
  };
  await assert.rejects(runScenario(scenario, options()), /session: \d+ of \d+ answers were not 200/);
  assert.deepEqual(await readdir(folder), []);
});
