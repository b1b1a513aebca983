import type { CrossoverCell } from '../../crossover/crossover.ts';
import { formatDecimals, formatInteger } from '../numbers.ts';
import type { Line, LinePlot } from '../plot.ts';
import type { ReportSection } from '../section.ts';

/** Where handing requests to a worker begins to be cheaper than ranking them at once. */
export function crossoverSection(cells: readonly CrossoverCell[]): ReportSection[] {
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

/** In the thread with the largest batch, then with a worker, batch by batch; null where the system tells no CPU times. */
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
