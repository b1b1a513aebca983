import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { toMarkdown } from '../../../bench/report/markdown.ts';
import { lastSustainedPoint } from '../../../bench/report/sections/curves-section.ts';
import type { BenchResult } from '../../../bench/result/bench-result.ts';
import { crossoverCell, curvePoint, sessionRoute, smallResult } from '../support/small-result.ts';

const empty: BenchResult = {
  ...smallResult,
  routes: [],
  limits: [],
  curves: [],
  memory: null,
  micro: [],
  crossover: [],
  history: [],
};

test('formats a result as the expected Markdown text', async () => {
  const wanted = await readFile(new URL('./small-result.md', import.meta.url), 'utf8');
  assert.equal(toMarkdown(smallResult), wanted);
});

test('omits parts that were not run', () => {
  assert.equal(toMarkdown(empty).split('\n').filter(Boolean).length, 1);
});

test('describes only a quick run as indicative', () => {
  assert.match(toMarkdown(smallResult), /indicative only/);
  assert.doesNotMatch(toMarkdown({ ...smallResult, quick: false }), /indicative only/);
});

test('marks a missed target as missed, and a limit that admits one request too many as not exact', () => {
  const route = { ...sessionRoute, targets: [{ over: 'bare' as const, ratio: 0.41 }] };
  const limit = { ...smallResult.limits[0]!, admitted: 501 };
  const markdown = toMarkdown({ ...empty, routes: [route], limits: [limit] });
  assert.match(markdown, /\| 0\.41 +\| missed +\|/);
  assert.match(markdown, /\| 501 +\| no +\|/);
});

test('marks a limit with unexpected responses as not exact, whatever the number of admitted requests', () => {
  const limit = { ...smallResult.limits[0]!, other: 1 };
  assert.match(toMarkdown({ ...empty, limits: [limit] }), /\| 500 +\| no +\|/);
});

test('names a client that was saturated first, and warns the reader', () => {
  const markdown = toMarkdown({ ...empty, routes: [{ ...sessionRoute, clientSaturated: true }] });
  assert.match(markdown, /client gave first .* `session` \(wrk\): .* too high/);
});

test('omits the plot of CPU times if the system does not provide CPU times', () => {
  const crossover = [crossoverCell(40, 1, null, 1), crossoverCell(50, 1, 1, 1)];
  const markdown = toMarkdown({ ...empty, crossover });
  assert.ok(markdown.includes('| 40 ') && !markdown.includes('mermaid'));
});

test('escapes names so that they cannot end a table cell or add markup', () => {
  const machine = { ...smallResult.machine, cpu: 'plain' };
  const markdown = toMarkdown({ ...empty, machine, micro: [{ name: 'a|b <i>', medianNs: 1, p99Ns: 2 }] });
  assert.ok(markdown.includes('| a\\|b &lt;i> |'));
});

test('ends the sustained rate where the service falls behind, rejects requests, or the client is saturated', () => {
  const fine = curvePoint(1_000, 995);
  const beyond = [
    curvePoint(2_000, 1_900),
    curvePoint(2_000, 2_000, 1),
    { ...curvePoint(2_000, 2_000), failed: 1 },
    { ...curvePoint(2_000, 2_000), client: { ...fine.client, saturated: true } },
  ];
  for (const point of beyond) assert.equal(lastSustainedPoint([curvePoint(3_000, 3_000), point, fine]), fine);
  assert.equal(lastSustainedPoint([beyond[0]!]), null);
});

test('marks points of a curve at which the client is saturated', () => {
  const [curve] = smallResult.curves;
  const [first, ...others] = curve!.points;
  assert.doesNotMatch(toMarkdown(smallResult), /at its end too/);
  const points = [{ ...first!, client: { ...first!.client, saturated: true } }, ...others];
  const markdown = toMarkdown({ ...empty, curves: [{ ...curve!, points }] });
  assert.match(markdown, /Offered load: at 1,000 requests offered a second the client was at its end too/);
});
