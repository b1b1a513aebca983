import type { ServerMeasurement, StackComparison } from '../result/bench-result.ts';
import { median, summarizeMeasurements } from '../statistics.ts';
import { formatNumber, formatSummary, type ReportSection } from './markdown.ts';

/** Returns the answers per CPU second of the service, divided by those of the other server, for each round with known CPU times. */
export function computeStackRatios({ service, stack }: Pick<StackComparison, 'service' | 'stack'>): number[] {
  return service.flatMap(({ cpuMicros }, round) => {
    const other = stack[round]?.cpuMicros ?? null;
    return cpuMicros === null || other === null ? [] : [other / cpuMicros];
  });
}

/** Returns the median CPU time of an answer in all processes of a server, in microseconds; null if the system reports no CPU times. */
export function medianCpuMicros(rounds: readonly ServerMeasurement[]): number | null {
  const known = rounds.flatMap(({ cpuMicros }) => cpuMicros ?? []);
  return known.length === 0 ? null : median(known);
}

/** Section that compares the service with a server of Fastify, Redis and PostgreSQL. */
export function stackSection(comparisons: readonly StackComparison[]): ReportSection {
  return {
    title: 'Fastify, Redis and PostgreSQL',
    text: [
      'The other server keeps the promises of these four routes in the plainest way: limits of keys and live sessions in Redis, and a row in ' +
        'PostgreSQL with `synchronous_commit=on` before the answer. It has no ranking, analytics, budgets or widgets. The CPU time is that of ' +
        'all processes: Node.js, Redis and PostgreSQL. The ratio is the number of answers per CPU second of the service, divided by that of ' +
        'the other server.',
    ],
    tables: [
      {
        head: [
          'Route',
          'Service CPU us',
          'Other CPU us',
          'Ratio',
          'Target',
          'Result',
          'Service p50 / p99 ms',
          'Other p50 / p99 ms',
        ],
        rows: comparisons.map(toRow),
      },
    ],
  };
}

function toRow(comparison: StackComparison): string[] {
  const { title, target, service, stack } = comparison;
  const ratios = computeStackRatios(comparison);
  const ratio = ratios.length === 0 ? null : summarizeMeasurements(ratios);
  const latency = (rounds: readonly ServerMeasurement[]) =>
    (['p50', 'p99'] as const)
      .map((quantile) => formatNumber(median(rounds.map(({ latencyMs }) => latencyMs[quantile])), 2))
      .join(' / ');
  return [
    title,
    formatNumber(medianCpuMicros(service), 1),
    formatNumber(medianCpuMicros(stack), 1),
    ratio === null ? '-' : formatSummary(ratio, 1),
    formatNumber(target, 1),
    ratio === null ? '-' : ratio.median >= target ? 'reached' : 'missed',
    latency(service),
    latency(stack),
  ];
}
