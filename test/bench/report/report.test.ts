import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { findHighestSustainedLoad } from '../../../bench/report/curves-section.ts';
import { toMarkdown } from '../../../bench/report/markdown.ts';
import { drawLatencyPicture, drawStackPicture } from '../../../bench/report/pictures.ts';
import { replaceSections, replaceSummary } from '../../../bench/report/publish.ts';
import { cpuTimeRatios, throughputRatios } from '../../../bench/report/ratios.ts';
import { summarizeResult } from '../../../bench/report/summary.ts';
import type { BenchResult } from '../../../bench/result/bench-result.ts';
import { curvePoint, measurement, sessionRoute, smallResult } from '../support/small-result.ts';

const empty: BenchResult = {
  ...smallResult,
  stack: [],
  routes: [],
  limits: [],
  curves: [],
  memory: null,
  micro: [],
  history: [],
  consoles: [],
};

describe('ratios of throughput and CPU time between two servers', () => {
  test('computes the throughput ratio of two servers in each round, and returns the median, lowest and highest ratio', () => {
    assert.deepEqual(throughputRatios(sessionRoute, 'bare'), { median: 0.4, lowest: 0.3, highest: 0.5 });
    assert.deepEqual(throughputRatios(sessionRoute, 'bare', 'synced'), { median: 0.8, lowest: 0.45, highest: 0.8 });
    assert.equal(throughputRatios(sessionRoute, 'fastify'), null);
  });

  test('divides the CPU time of the baseline server by the CPU time of the service, so a higher ratio is better', () => {
    assert.deepEqual(cpuTimeRatios(sessionRoute, 'bare'), { median: 0.25, lowest: 0.1, highest: 0.5 });
    const servers = sessionRoute.servers.map(({ kind }) => ({ kind, rounds: [measurement(1, null)] }));
    assert.equal(cpuTimeRatios({ servers }, 'bare'), null);
  });
});

describe('toMarkdown', () => {
  test('formats a result as the expected Markdown', async () => {
    const wanted = await readFile(new URL('./small-result.md', import.meta.url), 'utf8');
    assert.equal(toMarkdown(smallResult), wanted);
  });

  test('the report omits parts that were not run, and marks the figures of a quick run as indicative only', () => {
    assert.equal(toMarkdown(empty).split('\n').filter(Boolean).length, 1);
    assert.match(toMarkdown(smallResult), /indicative only/);
    assert.doesNotMatch(toMarkdown({ ...smallResult, quick: false }), /indicative only/);
  });

  test('the report marks a route that misses its performance target', () => {
    const routes = [{ ...sessionRoute, targets: { bare: 0.41 } }];
    assert.match(toMarkdown({ ...empty, routes }), /\| 0\.41 +\| missed +\|/);
  });

  test('the report names each route and request rate at which the client was saturated', () => {
    const [curve] = smallResult.curves;
    const [first, ...others] = curve!.points;
    assert.doesNotMatch(toMarkdown(smallResult), /client was saturated/);
    const points = [{ ...first!, client: { ...first!.client, saturated: true } }, ...others];
    const routes = [{ ...sessionRoute, clientSaturated: true }];
    const markdown = toMarkdown({ ...empty, routes, curves: [{ ...curve!, points }] });
    assert.match(markdown, /client was slower than the fastest server: `session` \(wrk\)\. .* too high/);
    assert.match(markdown, /At 1,000 offered requests per second, the client was saturated/);
  });

  test('escapes names so that they cannot end a table cell or add markup', () => {
    const micro = [{ name: 'a|b <i>', medianNs: 1, p99Ns: 2 }];
    assert.ok(toMarkdown({ ...empty, micro }).includes('| a\\|b &lt;i> |'));
  });
});

test('the sustained rate is below every rate with failed requests, low throughput or a saturated client', () => {
  const fine = curvePoint(1_000, 995);
  const beyond = [
    curvePoint(2_000, 1_900),
    curvePoint(2_000, 2_000, 1),
    { ...curvePoint(2_000, 2_000), failed: 1 },
    { ...curvePoint(2_000, 2_000), client: { ...fine.client, saturated: true } },
  ];
  for (const point of beyond) assert.equal(findHighestSustainedLoad([curvePoint(3_000, 3_000), point, fine]), fine);
  assert.equal(findHighestSustainedLoad([beyond[0]!]), null);
  assert.equal(findHighestSustainedLoad([fine]), fine);
});

describe('published results', () => {
  const readme =
    '# Benchmarks\n\n<!-- summary: written by `make bench` with --publish -->\n<!-- end of summary -->\n\nEnd\n';

  test('the summary has a row for each measured part, and a later run replaces its own rows only', () => {
    const first = replaceSummary(readme, summarizeResult(smallResult));
    assert.match(
      first,
      /\| POST \/session +\| 66,667 answers per CPU second \| 6\.5 times Fastify, Redis and PostgreSQL/,
    );
    assert.match(first, /\| Memory of a live session +\| 1,024 bytes/);
    assert.ok(first.endsWith('\n\nEnd\n'));
    const memory = { ...smallResult.memory!, residentBytes: 900 };
    const second = replaceSummary(first, summarizeResult({ ...empty, memory }));
    assert.equal(second, first.replace('1,024 bytes', '900 bytes  '));
    assert.throws(() => replaceSummary('# A README\n', summarizeResult(empty)), /no markers/);
  });

  test('the tables keep the sections of parts that a later run did not measure', () => {
    const first = replaceSections('# Tables\n\nText.\n', smallResult);
    assert.deepEqual(
      first.match(/^## .*/gm),
      toMarkdown(smallResult)
        .match(/^### .*/gm)!
        .map((title) => title.slice(1)),
    );
    const second = replaceSections(first, { ...empty, commit: 'def456', history: smallResult.history });
    const other = (text: string) => text.split('\n## ').filter((section) => !section.startsWith('Restart'));
    assert.deepEqual(other(second), other(first));
    assert.equal(second.split('commit def456').length, 2);
  });

  test('the pictures have a bar for each server and route, and a line for each quantile, up to the highest sustained load', () => {
    const bars = drawStackPicture(smallResult.stack);
    assert.equal(bars.split('<rect').length - 1, 2);
    assert.match(bars, />service 66,667</);
    assert.match(bars, />Fastify, Redis, PostgreSQL 11,111</);
    const lines = drawLatencyPicture(smallResult.curves[0]!.points);
    const [p50, p99] = [...lines.matchAll(/points="([^"]*)"/g)].map(([, points]) => points!.split(' '));
    // The second point of the curve answered too few requests.
    assert.deepEqual([p50!.length, p99!.length], [1, 1]);
    assert.notDeepEqual(p50, p99);
  });
});
