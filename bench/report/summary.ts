import type { BenchResult } from '../result/bench-result.ts';
import { median } from '../statistics.ts';
import { findHighestSustainedLoad } from './curves-section.ts';
import { formatNumber, type ReportTable } from './markdown.ts';
import { cpuTimeRatios, measurementsOfServer } from './ratios.ts';
import { computeStackRatios, medianCpuMicros } from './stack-section.ts';

/** Row of the summary: what was measured, the result, and what it is compared with. */
type SummaryRow = readonly [name: string, result: string, comparison: string];

export const summaryHead = ['Measurement', 'Result', 'Compared with'] as const;

function formatAnswersPerCpuSecond(micros: number | null): string {
  return micros === null ? '-' : `${formatNumber(1e6 / micros)} answers per CPU second`;
}

function stackRows({ stack }: BenchResult): SummaryRow[] {
  return stack.map((comparison) => {
    const ratios = computeStackRatios(comparison);
    const ratio = ratios.length === 0 ? '-' : `${formatNumber(median(ratios), 1)} times Fastify, Redis and PostgreSQL`;
    return [comparison.title, formatAnswersPerCpuSecond(medianCpuMicros(comparison.service)), ratio];
  });
}

/** Routes that the comparison with Fastify, Redis and PostgreSQL does not have. */
const otherRoutes = ['marketplace-unknown', 'analytics'];

function routeRows({ routes }: BenchResult): SummaryRow[] {
  return otherRoutes.flatMap((name): SummaryRow[] => {
    // The last result of a route is the one with the client that uses less CPU time.
    const route = routes.findLast((each) => each.name === name);
    if (route === undefined) return [];
    const ratio = cpuTimeRatios(route, 'fastify');
    return [
      [
        route.title,
        formatAnswersPerCpuSecond(medianCpuMicros(measurementsOfServer(route, 'service'))),
        ratio === null ? '-' : `${formatNumber(ratio.median, 2)} times Fastify with a fixed answer`,
      ],
    ];
  });
}

function curveRows({ curves }: BenchResult): SummaryRow[] {
  const points = curves.find(({ name }) => name === 'offered-load')?.points ?? [];
  const sustained = findHighestSustainedLoad(points);
  if (sustained === null) return [];
  const half =
    points.findLast(({ offeredPerSecond }) => offeredPerSecond <= sustained.offeredPerSecond / 2) ?? points[0]!;
  const { p50, p99, p999 } = half.latencyMs;
  return [
    [
      'Highest sustained load, 80 % offers and 20 % sessions',
      `${formatNumber(sustained.offeredPerSecond)} requests per second`,
      'client on the same cores',
    ],
    [
      `Latency at ${formatNumber(half.offeredPerSecond)} requests per second, p50 / p99 / p99.9`,
      `${[p50, p99, p999].map((ms) => formatNumber(ms, 2)).join(' / ')} ms`,
      half.bare === undefined
        ? '-'
        : `p99.9 ${formatNumber(p999 / half.bare.latencyMs.p999, 1)} times that of bare uWebSockets.js`,
    ],
  ];
}

/** Returns the rows of the summary that a run measured, at most ten. */
export function summarizeResult(result: BenchResult): ReportTable {
  const { memory, history } = result;
  const rows: SummaryRow[] = [...stackRows(result), ...routeRows(result), ...curveRows(result)];
  if (memory !== null)
    rows.push([
      'Memory of a live session',
      `${formatNumber(memory.residentBytes)} bytes`,
      'outside the JavaScript heap',
    ]);
  const start = history.findLast(({ name }) => name.startsWith('start with'));
  if (start !== undefined) rows.push([capitalize(start.name), start.value, start.target ?? '-']);
  return { head: summaryHead, rows };
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
