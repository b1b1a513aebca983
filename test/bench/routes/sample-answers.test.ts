import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { BaselineResponse } from '../../../bench/baselines/baseline-response.ts';
import { HttpCaller } from '../../../bench/load/http-caller.ts';
import { type PreparedRequest, requestHeaders } from '../../../bench/load/prepared-request.ts';
import { serverKinds } from '../../../bench/result/bench-result.ts';
import { meanBodyBytes, sampleResponses } from '../../../bench/routes/sample-responses.ts';
import { analyticsScenario, clickScenario, sessionScenario } from '../../../bench/scenarios/route-scenarios.ts';
import type { Scenario, ScenarioStage } from '../../../bench/scenarios/scenario.ts';
import { startBaselineTarget } from '../../../bench/target/baseline-target.ts';
import { type ServiceTarget, startServiceTarget } from '../../../bench/target/service-target.ts';
import { rawAnswer } from '../target/raw-answer.ts';

let folder = '';
let service: ServiceTarget;
let caller: HttpCaller;
let stage: ScenarioStage;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bench-sample-'));
  service = await startServiceTarget({ folder, keys: 40 });
  caller = new HttpCaller(service.port, 8);
  let taken = 0;
  const { keys } = service;
  stage = { caller, keys, nextKey: () => keys[taken++ % keys.length]!, roundRequests: 40, state: new Map() };
});
after(async () => {
  caller.close();
  await service.close();
  await rm(folder, { recursive: true });
});

function raw(request: PreparedRequest): string {
  const { method, path, body = '' } = request;
  const headers = Object.entries({ host: 'a', ...requestHeaders(request), 'content-length': String(body.length) });
  return `${method} ${path} HTTP/1.1\r\n${headers.map((pair) => `${pair.join(': ')}\r\n`).join('')}\r\n${body}`;
}

/**
 * Returns the bytes of the raw response to one prepared request, from the service and from each baseline. Omits parts
 * that differ between two responses of the service: the request id and the redirect URL of a click.
 */
async function wireBytes(scenario: Scenario): Promise<number[]> {
  const answers = await sampleResponses(scenario, stage);
  const [request] = await scenario.prepare(stage, 1);
  const ask = async (port: number) => {
    const text = await rawAnswer(port, raw(request!), Buffer.byteLength(answers[0]!.body));
    return text.replaceAll(/^(x-request-id|location): [^\r]+/gim, '$1').length;
  };
  const sizes = [await ask(service.port)];
  for (const kind of serverKinds.filter((kind) => kind !== 'service')) {
    const target = await startBaselineTarget(kind, answers, folder);
    sizes.push(await ask(target.port));
    await target.close();
  }
  return sizes;
}

for (const scenario of [sessionScenario, clickScenario]) {
  test(`sends as many bytes from every baseline as from the service for ${scenario.name}`, async () => {
    const [own, ...others] = await wireBytes(scenario);
    assert.deepEqual(others, [own, own, own, own]);
  });
}

test('samples each kind of request of a path, with full pages', async () => {
  const [summary, rows] = await sampleResponses(analyticsScenario, stage);
  assert.equal(JSON.parse(summary!.body).granularity, 'summary');
  assert.equal(JSON.parse(rows!.body).data.length, 100);
});

test('computes the mean size of a body over the requested queries', () => {
  const kind = { method: 'GET', path: '/a', status: 200, headers: [] } as const;
  const answers: readonly BaselineResponse[] = [
    { ...kind, query: 'b=1', body: 'x'.repeat(100) },
    { ...kind, query: 'b=2', body: 'x'.repeat(10) },
  ];
  const ask = (path: string): PreparedRequest => ({ method: 'GET', path });
  assert.equal(meanBodyBytes([ask('/a?b=1'), ask('/a?b=2'), ask('/a?b=2')], answers), 40);
});
