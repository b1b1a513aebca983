import type { CrossoverCell } from '../crossover/crossover.ts';
import { table } from './table.ts';

/** Where handing requests to a worker begins to be cheaper than ranking them at once: a table, and a plot of the same. */
export function crossoverReport(cells: readonly CrossoverCell[]): string {
  const micros = (value: number | null) => (value === null ? '-' : value.toFixed(1));
  const thousands = (value: number) => (value / 1_000).toFixed(1);
  const rows = cells.map(({ offers, batch, inThread, pool }) => [
    offers.toLocaleString('en-US'),
    String(batch),
    micros(inThread.frontEndMicros),
    micros(pool.frontEndMicros),
    thousands(inThread.perSecond),
    thousands(pool.perSecond),
  ]);
  const head = [
    'Offers',
    'Batch',
    'Front end us/request, in thread',
    'with one worker',
    'Thousand requests/s, in thread',
    'with one worker',
  ];
  return [table(head, rows), ...plot(cells)].join('\n\n');
}

function plot(cells: readonly CrossoverCell[]): string[] {
  const sizes = [...new Set(cells.map(({ offers }) => offers))];
  const batches = [...new Set(cells.map(({ batch }) => batch))];
  const line = (figures: readonly (number | null)[]) =>
    `  line [${figures.map((figure) => figure!.toFixed(1)).join(', ')}]`;
  const of = (batch: number) =>
    sizes.map((size) => cells.find((cell) => cell.offers === size && cell.batch === batch)!);
  const lines = [
    of(batches.at(-1)!).map(({ inThread }) => inThread.frontEndMicros),
    ...batches.map((batch) => of(batch).map(({ pool }) => pool.frontEndMicros)),
  ];
  if (lines.flat().includes(null)) return [];
  return [
    [
      '```mermaid',
      'xychart-beta',
      '  title "CPU of the front-end thread for a ranking"',
      `  x-axis "offers in the catalog" [${sizes.join(', ')}]`,
      '  y-axis "us a request"',
      ...lines.map(line),
      '```',
    ].join('\n'),
    `The line that climbs is ranking in the thread; the others, from the top, a worker with batches of ${batches.join(', ')}.`,
  ];
}
