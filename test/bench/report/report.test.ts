import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CrossoverCell } from '../../../bench/crossover/crossover.ts';
import { cpuRatios, throughputRatios, toMarkdown } from '../../../bench/report/report.ts';
import type { BenchResult } from '../../../bench/result/bench-result.ts';
import type { Measurement } from '../../../bench/result/measurement.ts';
import type { RouteResult } from '../../../bench/result/route-result.ts';
import { quickScale } from '../../../bench/scale.ts';

function measurement(perSecond: number, mainThreadCpuMicros: number | null): Measurement {
  return {
    requests: perSecond,
    seconds: 1,
    perSecond,
    latencyMs: { p50: 1, p99: 2, p999: 3 },
    clientCpuSeconds: 0.5,
    clientThreads: 1,
    cpuMicros: mainThreadCpuMicros,
    mainThreadCpuMicros,
    process: null,
  };
}

const servers: RouteResult['servers'] = [
  { kind: 'service', rounds: [measurement(40, 10), measurement(60, 20), measurement(50, 50)] },
  { kind: 'bare', rounds: [measurement(100, 5), measurement(200, 5), measurement(100, 5)] },
];

const session: RouteResult = {
  name: 'session',
  title: 'POST /session',
  client: 'wrk',
  bodyBytes: 220,
  targets: [{ over: 'bare', ratio: 0.35 }],
  servers,
  clientSaturated: false,
};
const click: RouteResult = {
  ...session,
  name: 'click',
  title: 'GET /c',
  bodyBytes: 0,
  targets: [{ over: 'bare', ratio: 0.45 }],
};

function cell(offers: number, batch: number, inThread: number | null, pool: number): CrossoverCell {
  return {
    offers,
    batch,
    inThread: { frontEndMicros: inThread, perSecond: 300_000 },
    pool: { frontEndMicros: pool, perSecond: 12_345 },
  };
}

const report: BenchResult = {
  format: 2,
  startedAt: '2026-01-02T03:04:05.000Z',
  quick: false,
  commit: null,
  machine: { cpu: 'A CPU', cores: 2, memoryGiB: 8, system: 'Linux 6', node: 'v22', disk: 'ext4', loadAverage: 0.1 },
  scale: { ...quickScale, rounds: 3 },
  routes: [session, click],
  limits: [],
  curves: [],
  memory: null,
  micro: [{ name: 'a/b: c', medianNs: 1_234.4, p99Ns: 2_000 }],
  crossover: [cell(40, 1, 3, 25), cell(40, 8, 2, 12), cell(9_000, 1, 80, 26), cell(9_000, 8, 70.04, 12)],
  history: [{ name: 'records', value: '1 MB', beside: 'at most 2 MB' }],
};

test('throughput is compared within a round, then the middle round counts', () => {
  assert.deepEqual(throughputRatios(session, 'bare'), { median: 0.4, lowest: 0.3, highest: 0.5 });
});

test('CPU time is compared the other way round, since less is better', () => {
  assert.deepEqual(cpuRatios(session, 'bare'), { median: 0.25, lowest: 0.1, highest: 0.5 });
});

test('without CPU figures there is no CPU ratio', () => {
  const untold = servers.map(({ kind }) => ({ kind, rounds: [measurement(1, null)] }));
  assert.equal(cpuRatios({ ...session, servers: untold }, 'bare'), null);
});

test('the tables say what was reached and what was missed', () => {
  const lines = toMarkdown(report)
    .split('\n')
    .map((text) => text.replaceAll(/ +/g, ' '));
  const line = (start: string) => lines.find((text) => text.startsWith(start))!;
  assert.match(line('| POST /session '), /0\.35 \| 0\.40 \(0\.30 to 0\.50\) .* reached \|$/);
  assert.match(line('| GET /c '), /0\.45 .* missed \|$/);
  assert.match(line('| session, service '), /\| 220 \| 50 \| 20\.0 \| 20\.0 \| 1\.00 \/ 2\.00 \/ 3\.00 \| 50 % \|$/);
  assert.match(line('| a/b: c '), /1,234 \| 2,000 \|$/);
  assert.match(line('| records '), /1 MB \| at most 2 MB \|$/);
});

test('a baseline that was not measured has no ratio', () => {
  assert.equal(throughputRatios(session, 'fastify'), null);
});

test('a client that used up its threads is named, and the reader warned', () => {
  const text = toMarkdown({ ...report, routes: [{ ...session, clientSaturated: true }, click] });
  assert.match(text, /client used up its own threads .* `session`:/);
  assert.doesNotMatch(toMarkdown(report), /used up its own threads/);
});

test('a quick run says so', () => {
  assert.match(toMarkdown({ ...report, quick: true }), /indicative only/);
  assert.doesNotMatch(toMarkdown(report), /indicative only/);
});

test('the crossover is told as a table and as a plot', () => {
  const markdown = toMarkdown(report);
  assert.ok(markdown.replaceAll(/ +/g, ' ').includes('\n| 9,000 | 8 | 70.0 | 12.0 | 300.0 | 12.3 |\n'));
  const plot = /```mermaid\n(.*?)\n```/s
    .exec(markdown)![1]!
    .split('\n')
    .map((line) => line.trim());
  assert.deepEqual(plot.slice(2), [
    'x-axis "offers in the catalog" [40, 9000]',
    'y-axis "us a request"',
    'line [2.0, 70.0]',
    'line [25.0, 26.0]',
    'line [12.0, 12.0]',
  ]);
});

test('where the system does not tell CPU times there is no plot', () => {
  const markdown = toMarkdown({ ...report, crossover: [cell(40, 1, null, 1), cell(50, 1, 1, 1)] });
  assert.ok(!markdown.includes('mermaid'));
});
