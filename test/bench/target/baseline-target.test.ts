import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { BaselineResponse } from '../../../bench/baselines/baseline-response.ts';
import { HttpCaller } from '../../../bench/load/http-caller.ts';
import { encodeHttpRequest, type PreparedRequest } from '../../../bench/load/prepared-request.ts';
import { benchServerKinds } from '../../../bench/result/bench-result.ts';
import { createScenarioContext } from '../../../bench/routes/run-scenario.ts';
import { fetchSampleResponses } from '../../../bench/routes/sample-responses.ts';
import { analyticsScenario, clickScenario, sessionCreationScenario } from '../../../bench/scenarios/route-scenarios.ts';
import type { ScenarioContext } from '../../../bench/scenarios/scenario.ts';
import { startBaselineServer } from '../../../bench/target/baseline-target.ts';
import type { LoadTarget } from '../../../bench/target/load-target.ts';
import { type ServiceTarget, startServiceTarget } from '../../../bench/target/service-target.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const json = [
  ['X-Request-Id', 'r-1'],
  ['Content-Type', 'application/json'],
  ['Date', 'Fri, 02 Jan 2026 03:04:05 GMT'],
  ['Content-Length', '1'],
] as const;
const answers: readonly BaselineResponse[] = [
  { method: 'POST', path: '/v1/x', status: 200, headers: json, body: '{"a":1}' },
  { method: 'GET', path: '/v1/y', query: 'way=long', status: 200, headers: json, body: `"${'é'.repeat(2_000)}"` },
  { method: 'GET', path: '/v1/y', query: 'way=short', status: 200, headers: json, body: '1' },
  { method: 'GET', path: '/c', status: 302, headers: [['Location', 'https://a.example/b?c=d']], body: '' },
];

/** Sends one request with keep-alive on a new socket. Returns the raw response, with its status line and headers. */
async function rawAnswer(port: number, request: string | Buffer, bodyBytes: number): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  socket.write(request);
  let text = '';
  try {
    for (;;) {
      const end = text.indexOf('\r\n\r\n');
      if (end !== -1 && text.length >= end + 4 + bodyBytes) return text;
      const [more] = (await once(socket, 'data')) as [string];
      text += more;
    }
  } finally {
    socket.destroy();
  }
}

const kinds = benchServerKinds.filter((kind) => kind !== 'service');

const folder = temporaryFolder();

for (const kind of kinds) {
  describe(kind, () => {
    let target: LoadTarget;
    before(async () => {
      target = await startBaselineServer(kind, answers, folder);
    });
    after(() => target.close());
    const url = (path: string) => `http://127.0.0.1:${target.port}${path}`;

    test('returns the preset response to a query, with the preset status, headers and body', async () => {
      const long = await fetch(url('/v1/y?a=b&way=long'));
      assert.equal(long.status, 200);
      assert.equal(long.headers.get('x-request-id'), 'r-1');
      assert.equal(await long.text(), answers[1]!.body);
      assert.equal(await (await fetch(url('/v1/y?way=short'))).text(), '1');
    });

    test('reads large POST bodies completely before responding', async () => {
      const body = JSON.stringify('y'.repeat(300_000));
      const headers = { 'content-type': 'application/json' };
      for (let call = 0; call < 3; call++) {
        const answer = await fetch(url('/v1/x'), { method: 'POST', headers, body });
        assert.equal(await answer.text(), '{"a":1}');
      }
    });
  });
}

test('the baseline server "synced" writes one record per request before it responds, also for concurrent requests', async (t) => {
  const ownFolder = temporaryFolder(t);
  const target = await startBaselineServer('synced', answers, ownFolder);
  const url = `http://127.0.0.1:${target.port}/v1/y?way=short`;
  const texts = await Promise.all(Array.from({ length: 25 }, async () => (await fetch(url)).text()));
  assert.deepEqual(texts, Array(25).fill('1'));
  const file = await readFile(join(ownFolder, 'answers-synced.json.records'), 'latin1');
  assert.equal(file.replaceAll('\0', ''), 'r'.repeat(80 * 25));
  await target.close();
  await target.close();
  await assert.rejects(fetch(url));
});

describe('fetchSampleResponses', () => {
  let service: ServiceTarget;
  let caller: HttpCaller;
  let stage: ScenarioContext;
  before(async () => {
    service = await startServiceTarget({ folder, keys: 40 });
    caller = new HttpCaller(service.port, 8);
    stage = createScenarioContext(caller, service.keys, 40);
  });
  after(async () => {
    caller.close();
    await service.close();
  });

  test('the baseline servers return responses of the same size as the service', async () => {
    const answers: BaselineResponse[] = [];
    const requests: PreparedRequest[] = [];
    for (const scenario of [sessionCreationScenario, clickScenario]) {
      answers.push(...(await fetchSampleResponses(scenario, stage)));
      requests.push(...(await scenario.prepareRequests(stage, 1)).slice(0, 1));
    }
    const sizesFrom = async (port: number) => {
      const texts = requests.map((request, at) =>
        rawAnswer(port, encodeHttpRequest(request, port), Buffer.byteLength(answers[at]!.body)),
      );
      // The request id and the redirect URL of a click differ between two responses of the service.
      return (await Promise.all(texts)).map(
        (text) => text.replaceAll(/^(x-request-id|location): [^\r]+/gim, '$1').length,
      );
    };
    const own = await sizesFrom(service.port);
    for (const kind of kinds) {
      const target = await startBaselineServer(kind, answers, folder);
      assert.deepEqual(await sizesFrom(target.port), own, kind);
      await target.close();
    }
  });

  test('fetchSampleResponses returns two analytics responses: a summary and a page of 100 rows', async () => {
    const [summary, rows] = await fetchSampleResponses(analyticsScenario, stage);
    assert.equal(JSON.parse(summary!.body).granularity, 'summary');
    assert.equal(JSON.parse(rows!.body).data.length, 100);
  });
});
