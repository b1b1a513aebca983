import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { findHighestSustainedLoad } from '../../../bench/report/curves-section.ts';
import { replaceResultsSection, toMarkdown } from '../../../bench/report/markdown.ts';
import { cpuTimeRatios, throughputRatios } from '../../../bench/report/ratios.ts';
import type { BenchResult } from '../../../bench/result/bench-result.ts';
import { curvePoint, measurement, sessionRoute, smallResult } from '../support/small-result.ts';

const empty: BenchResult = {
  ...smallResult,
  stack: [],
  routes: [],
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

test('replaces only the text between the markers of bench/README.md, and throws if the markers are missing', async () => {
  const readme = await readFile(new URL('../../../bench/README.md', import.meta.url), 'utf8');
  const once = replaceResultsSection(readme, 'first\n');
  const twice = replaceResultsSection(once, 'second\n');
  assert.ok(once.includes('first\n') && !twice.includes('first\n') && twice.includes('second\n'));
  assert.equal(replaceResultsSection(twice, 'first\n'), once);
  assert.throws(() => replaceResultsSection('# A README\n', 'first\n'), /no markers/);
});
