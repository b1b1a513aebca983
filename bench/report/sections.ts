import type { MatcherCrossoverResult } from '../crossover/crossover-part.ts';
import type { HistoryMeasurement } from '../history/history-part.ts';
import type { MicroBenchmarkResult } from '../micro/micro-benchmark.ts';
import { type BenchResult, isLimitExact, type LimitResult } from '../result/bench-result.ts';
import { curvesSection, memorySection } from './curves-section.ts';
import { formatNumber, type ReportSection } from './markdown.ts';
import { routesSection } from './routes-section.ts';

/** Returns the sections of all parts that ran. */
export function reportSections(result: BenchResult): ReportSection[] {
  return [
    ...routesSection(result.routes),
    ...limitsSection(result.limits),
    ...curvesSection(result.curves),
    ...memorySection(result.memory),
    ...microSection(result.micro),
    ...crossoverSection(result.crossover),
    ...historySection(result.history),
  ];
}

/** Returns a section with one table; empty without rows. */
function tableSection(
  title: string,
  text: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): ReportSection[] {
  return rows.length === 0 ? [] : [{ title, text: [text], tables: [{ caption: title, head, rows }] }];
}

function limitsSection(limits: readonly LimitResult[]): ReportSection[] {
  return tableSection(
    'Limits',
    'Asked from many connections at once; exact is a limit that admits not one more and not one less.',
    [
      'Limit',
      'Connections',
      'Attempted',
      'To be admitted',
      'Admitted',
      'Exact',
      'Refused',
      'Neither',
      'CPU us a refusal',
      'CPU us admitted',
      'Refusals/s',
    ],
    limits.map((limit) => [
      limit.title,
      formatNumber(limit.connections),
      formatNumber(limit.attempted),
      formatNumber(limit.expected),
      formatNumber(limit.admitted),
      isLimitExact(limit) ? 'yes' : 'no',
      formatNumber(limit.refused),
      formatNumber(limit.other),
      formatNumber(limit.refusalCpuMicros, 1),
      formatNumber(limit.admittedCpuMicros, 1),
      `${limit.clientSaturated ? 'at least ' : ''}${formatNumber(limit.refusalsPerSecond)}`,
    ]),
  );
}

function microSection(results: readonly MicroBenchmarkResult[]): ReportSection[] {
  return tableSection(
    'Hot functions alone',
    'One function at a time, called in the process that measures.',
    ['Function', 'One call', 'ns (middle)', 'p99 ns', 'Longest ns'],
    results.map(({ name, call, medianNs, p99Ns, worstNs }) => [
      name,
      call ?? '-',
      formatNumber(medianNs),
      formatNumber(p99Ns),
      formatNumber(worstNs ?? null),
    ]),
  );
}

/**
 * Returns the section about ranking in a matching thread: from which catalog size it takes less CPU time of the main
 * thread than ranking in the main thread.
 */
function crossoverSection(results: readonly MatcherCrossoverResult[]): ReportSection[] {
  const [section] = tableSection(
    'Ranking in the thread or in a worker',
    'A batch is what is under way at once; CPU time is that of the thread that asks.',
    [
      'Offers',
      'Batch',
      'Front end us/request, in thread',
      'with one worker',
      'Thousand requests/s, in thread',
      'with one worker',
    ],
    results.map(({ offers, batch, inThread, pool }) => [
      formatNumber(offers),
      formatNumber(batch),
      formatNumber(inThread.frontEndMicros, 1),
      formatNumber(pool.frontEndMicros, 1),
      formatNumber(inThread.perSecond / 1_000, 1),
      formatNumber(pool.perSecond / 1_000, 1),
    ]),
  );
  return section === undefined ? [] : [{ ...section, charts: crossoverChart(results) }];
}

/** Returns a Mermaid chart with lines for the main thread and for each batch size with a matching thread; empty without CPU times. */
function crossoverChart(results: readonly MatcherCrossoverResult[]): string[] {
  const batches = [...new Set(results.map(({ batch }) => batch))];
  const sizes = [...new Set(results.map(({ offers }) => offers))];
  const micros = (batch: number, kind: 'inThread' | 'pool') =>
    results.filter((result) => result.batch === batch).map((result) => result[kind].frontEndMicros);
  const lines = [micros(batches.at(-1)!, 'inThread'), ...batches.map((batch) => micros(batch, 'pool'))];
  if (lines.some((values) => values.includes(null))) return [];
  return [
    [
      '```mermaid',
      'xychart-beta',
      '  title "CPU of the front-end thread for a ranking"',
      `  x-axis "offers in the catalog" [${sizes.join(', ')}]`,
      '  y-axis "us a request"',
      ...lines.map((values) => `  line [${values.map((value) => value!.toFixed(1)).join(', ')}]`),
      '```',
    ].join('\n'),
    `The line that climbs is ranking in the thread; the others, from the top, a worker with batches of ${batches.join(', ')}.`,
  ];
}

function historySection(figures: readonly HistoryMeasurement[]): ReportSection[] {
  return tableSection(
    'What is kept',
    'The logs, what a restart reads back, and the counters.',
    ['What is kept', 'Figure', 'Target, or beside what'],
    figures.map(({ name, value, beside }) => [name, value, beside]),
  );
}
