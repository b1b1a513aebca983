import type { CrossoverCell } from '../../crossover/crossover-part.ts';
import type { HistoryFigure } from '../../history/history-measure.ts';
import type { MicroResult } from '../../micro/micro-benchmark.ts';
import { type BenchResult, isLimitExact, type LimitResult } from '../../result/bench-result.ts';
import { formatDecimals, formatInteger } from '../formatting.ts';
import { type Line, type LinePlot, type ReportSection, removeEmptyColumns } from '../report-section.ts';
import { curvesSection, memorySection } from './curves-section.ts';
import { routesSection } from './routes-section.ts';

function limitsSection(limits: readonly LimitResult[]): ReportSection[] {
  if (limits.length === 0) return [];
  const table = removeEmptyColumns({
    caption: 'Limits under more load than they let through',
    head: [
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
    rows: limits.map((limit) => [
      limit.title,
      formatInteger(limit.connections),
      formatInteger(limit.attempted),
      formatInteger(limit.expected),
      formatInteger(limit.admitted),
      isLimitExact(limit) ? { text: 'yes', mark: 'good' as const } : { text: 'no', mark: 'bad' as const },
      formatInteger(limit.refused),
      formatInteger(limit.other),
      formatDecimals(limit.refusalCpuMicros, 1),
      formatDecimals(limit.admittedCpuMicros, 1),
      `${limit.clientSaturated ? 'at least ' : ''}${formatInteger(limit.refusalsPerSecond)}`,
    ]),
    plots: [],
  });
  return [
    {
      id: 'limits',
      title: 'Limits',
      text: ['Asked from many connections at once; exact is a limit that admits not one more and not one less.'],
      tables: [table],
    },
  ];
}

function microSection(results: readonly MicroResult[]): ReportSection[] {
  if (results.length === 0) return [];
  return [
    {
      id: 'micro',
      title: 'Hot functions alone',
      text: ['One function at a time, called in the process that measures.'],
      tables: [
        removeEmptyColumns({
          caption: 'Time of one call',
          head: ['Function', 'One call', 'ns (middle)', 'p99 ns', 'Longest ns'],
          rows: results.map(({ name, call, medianNs, p99Ns, worstNs }) => [
            name,
            call ?? '-',
            formatInteger(medianNs),
            formatInteger(p99Ns),
            formatInteger(worstNs ?? null),
          ]),
          plots: [
            {
              kind: 'bars',
              title: 'Time of one call, with a whisker to the 99th percentile; logarithmic scale',
              logarithmic: true,
              reference: null,
              unit: 'ns',
              groups: results.map(({ name, medianNs, p99Ns }) => ({
                label: name,
                bars: [
                  {
                    label: '',
                    style: 0,
                    value: medianNs,
                    low: medianNs,
                    high: p99Ns,
                    target: null,
                    text: formatInteger(medianNs),
                  },
                ],
              })),
            },
          ],
        }),
      ],
    },
  ];
}

/** Section about the catalog size from which a matching thread uses less main-thread CPU time than ranking in the main thread. */
function crossoverSection(cells: readonly CrossoverCell[]): ReportSection[] {
  if (cells.length === 0) return [];
  const lines = crossoverLines(cells);
  return [
    {
      id: 'crossover',
      title: 'Ranking in the thread or in a worker',
      text: ['A batch is what is under way at once; CPU time is that of the thread that asks.'],
      tables: [
        {
          caption: 'A ranking in the thread that asks, and in one worker',
          head: [
            'Offers',
            'Batch',
            'Front end us/request, in thread',
            'with one worker',
            'Thousand requests/s, in thread',
            'with one worker',
          ],
          rows: cells.map(({ offers, batch, inThread, pool }) => [
            formatInteger(offers),
            formatInteger(batch),
            formatDecimals(inThread.frontEndMicros, 1),
            formatDecimals(pool.frontEndMicros, 1),
            formatDecimals(inThread.perSecond / 1_000, 1),
            formatDecimals(pool.perSecond / 1_000, 1),
          ]),
          plots: lines === null ? [] : [crossoverPlot(cells, lines)],
        },
      ],
      markdownOnly: lines === null ? [] : mermaidChart(cells, lines),
    },
  ];
}

/** Returns plot lines for the main thread and for each batch size with a matching thread; null without CPU times. */
function crossoverLines(cells: readonly CrossoverCell[]): Line[] | null {
  const batches = [...new Set(cells.map(({ batch }) => batch))];
  const of = (batch: number) =>
    catalogSizes(cells).map((size) => cells.find((cell) => cell.offers === size && cell.batch === batch));
  const lines = [
    {
      label: 'in the thread',
      style: 'guide' as const,
      values: of(batches.at(-1)!).map((cell) => cell?.inThread.frontEndMicros ?? null),
    },
    ...batches.map((batch, at) => ({
      label: `worker, batch of ${batch}`,
      style: (at % 4) as 0 | 1 | 2 | 3,
      values: of(batch).map((cell) => cell?.pool.frontEndMicros ?? null),
    })),
  ];
  return lines.some(({ values }) => values.includes(null)) ? null : lines;
}

function catalogSizes(cells: readonly CrossoverCell[]): number[] {
  return [...new Set(cells.map(({ offers }) => offers))];
}

function crossoverPlot(cells: readonly CrossoverCell[], lines: readonly Line[]): LinePlot {
  return {
    kind: 'lines',
    title: 'CPU of the front-end thread for a ranking',
    x: { label: 'offers in the catalog', logarithmic: true, values: catalogSizes(cells) },
    y: { label: 'us a request', logarithmic: true },
    lines,
  };
}

function mermaidChart(cells: readonly CrossoverCell[], lines: readonly Line[]): string[] {
  const batches = [...new Set(cells.map(({ batch }) => batch))];
  return [
    [
      '```mermaid',
      'xychart-beta',
      '  title "CPU of the front-end thread for a ranking"',
      `  x-axis "offers in the catalog" [${catalogSizes(cells).join(', ')}]`,
      '  y-axis "us a request"',
      ...lines.map(({ values }) => `  line [${values.map((value) => value!.toFixed(1)).join(', ')}]`),
      '```',
    ].join('\n'),
    `The line that climbs is ranking in the thread; the others, from the top, a worker with batches of ${batches.join(', ')}.`,
  ];
}

function historySection(figures: readonly HistoryFigure[]): ReportSection[] {
  if (figures.length === 0) return [];
  return [
    {
      id: 'history',
      title: 'What is kept',
      text: ['The logs, what a restart reads back, and the counters.'],
      tables: [
        {
          caption: 'What is kept',
          head: ['What is kept', 'Figure', 'Target, or beside what'],
          rows: figures.map(({ name, value, beside }) => [name, value, beside]),
          plots: [],
        },
      ],
    },
  ];
}

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
