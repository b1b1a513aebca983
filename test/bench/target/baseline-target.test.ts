import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { BaselineResponse } from '../../../bench/baselines/baseline-response.ts';
import { serverKinds } from '../../../bench/result/bench-result.ts';
import { startBaselineTarget } from '../../../bench/target/baseline-target.ts';
import type { LoadTarget } from '../../../bench/target/load-target.ts';
import { rawAnswer } from './raw-answer.ts';

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

const kinds = serverKinds.filter((kind) => kind !== 'service');

for (const kind of kinds) {
  describe(kind, () => {
    let folder = '';
    let target: LoadTarget;
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'bench-baseline-'));
      target = await startBaselineTarget(kind, answers, folder);
    });
    after(async () => {
      await target.close();
      await rm(folder, { recursive: true });
    });
    const url = (path: string) => `http://127.0.0.1:${target.port}${path}`;

    test('returns the preset response to a query, with its status, headers and body', async () => {
      const long = await fetch(url('/v1/y?a=b&way=long'));
      assert.equal(long.status, 200);
      assert.equal(long.headers.get('x-request-id'), 'r-1');
      assert.equal(await long.text(), answers[1]!.body);
      assert.equal(await (await fetch(url('/v1/y?way=short'))).text(), '1');
    });

    test('redirects without a body', async () => {
      const answer = await fetch(url('/c?sub=1'), { redirect: 'manual' });
      assert.equal(answer.status, 302);
      assert.equal(answer.headers.get('location'), 'https://a.example/b?c=d');
      assert.equal(await answer.text(), '');
    });

    test('reads a POST body completely before it responds, and accepts further requests', async () => {
      const body = JSON.stringify('y'.repeat(300_000));
      const headers = { 'content-type': 'application/json' };
      for (let call = 0; call < 3; call++) {
        const answer = await fetch(url('/v1/x'), { method: 'POST', headers, body });
        assert.equal(await answer.text(), '{"a":1}');
      }
    });

    test('sends as many bytes as the original response, and keeps the connection open', async () => {
      const text = await rawAnswer(target.port, 'GET /v1/y?way=short HTTP/1.1\r\nHost: a\r\n\r\n', 1);
      assert.equal(
        text.length,
        ['HTTP/1.1 200 OK', ...json.map((pair) => pair.join(': ')), '', '1'].join('\r\n').length,
      );
    });

    test('parses a POST body, and does not send the normal response to invalid JSON', async (t) => {
      // A separate server, because invalid JSON ends a server that catches no exceptions.
      const other = await startBaselineTarget(kind, answers, folder);
      t.after(() => other.close());
      const headers = { 'content-type': 'application/json' };
      const status = await fetch(`http://127.0.0.1:${other.port}/v1/x`, {
        method: 'POST',
        headers,
        body: '{"a":',
      }).then(
        (answer) => answer.status,
        () => 'none',
      );
      assert.ok(status === 'none' || status === 400, `${status}`);
    });

    test('reports CPU time and memory of the server process', async () => {
      await target.probe.start();
      await fetch(url('/c'), { redirect: 'manual' });
      const figures = await target.probe.stop();
      assert.ok(figures!.rssMiB > figures!.heapUsedMiB && figures!.heapUsedMiB > 0);
    });
  });
}

test('the synced server writes a record to disk before each response, also for concurrent requests', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-synced-'));
  const target = await startBaselineTarget('synced', answers, folder);
  const asked = 25;
  const ask = async () => (await fetch(`http://127.0.0.1:${target.port}/v1/y?way=short`)).text();
  assert.deepEqual(await Promise.all(Array.from({ length: asked }, ask)), Array(asked).fill('1'));
  const file = await readFile(join(folder, 'answers-synced.json.records'), 'latin1');
  assert.equal(file.replaceAll('\0', ''), 'r'.repeat(80 * asked));
  await target.close();
  await rm(folder, { recursive: true });
});

test('stops the process on close, and accepts a second close', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-baseline-'));
  const target = await startBaselineTarget('bare', answers, folder);
  await target.close();
  await target.close();
  await rm(folder, { recursive: true });
  await assert.rejects(fetch(`http://127.0.0.1:${target.port}/`));
});
