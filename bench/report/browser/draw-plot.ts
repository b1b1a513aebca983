import uPlot from 'uplot';
import { formatShort } from '../formatting.ts';
import type { Line, LinePlot } from '../report-section.ts';
import { linearTicks, logarithmicTicks } from './ticks.ts';

const plotHeight = 260;
const dashes: Readonly<Record<string, number[]>> = { guide: [4, 4], 0: [], 1: [10, 4], 2: [2, 3], 3: [10, 3, 2, 3] };
/** Maximum number of x values for which the axis labels every point. */
const labelledPointsMax = 9;
/** Minimum factor between two labels on a logarithmic axis. */
const labelDistanceFactor = 1.6;

/** Draws a plot into an element and replaces the content of the element. */
export function drawPlot(holder: HTMLElement, plot: LinePlot, width: number): void {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const ink = colour('ink-soft');
  const grid = { stroke: colour('rule'), width: 1 };
  const font = '12px system-ui, sans-serif';
  const { x, y, lines } = plot;
  const series: uPlot.Series[] = [
    { label: 'at', value: (_, value) => formatValue(value) },
    ...lines.map((line) => ({
      label: line.label,
      stroke: colour(line.style === 'guide' ? 'guide' : `line-${line.style}`),
      width: line.style === 'guide' ? 1.5 : 2,
      dash: dashes[line.style]!,
      points: { show: line.style !== 'guide', size: 6, fill: colour('paper') },
      spanGaps: true,
      value: (_: uPlot, value: number | null) => formatValue(value),
    })),
  ];
  const options: uPlot.Options = {
    width,
    height: plotHeight,
    padding: [8, 14, 0, 0],
    // A logarithmic x axis starts and ends near its points, not at a power of ten.
    scales: {
      x: {
        time: false,
        distr: x.logarithmic ? 3 : 1,
        range: (_, low, high) => (x.logarithmic ? [low / 1.15, high * 1.15] : paddedRange(low, high)),
      },
      y: {
        distr: y.logarithmic ? 3 : 1,
        range: (_, low, high) => (y.logarithmic ? [low / 1.4, high * 1.4] : [0, high * 1.08 || 1]),
      },
    },
    axes: [
      {
        label: x.label,
        labelSize: 22,
        labelFont: font,
        font,
        size: 30,
        stroke: ink,
        grid,
        ticks: grid,
        splits: (_, __, low, high) => {
          if (!x.logarithmic)
            return linearTicks(low, high, x.values, Math.min(labelledPointsMax, Math.floor(width / 60)));
          return x.values.length <= labelledPointsMax ? separatedTicks(x.values) : logarithmicTicks(low, high);
        },
        filter: (_, splits) => splits,
        values: (_, splits) => splits.map((split) => formatShort(split)),
      },
      {
        label: y.label,
        labelSize: 22,
        labelFont: font,
        font,
        size: 52,
        stroke: ink,
        grid,
        ticks: grid,
        ...(y.logarithmic
          ? { splits: (_: uPlot, __: number, low: number, high: number) => logarithmicTicks(low, high) }
          : {}),
        filter: (_, splits) => splits,
        values: (_, splits) => splits.map((split) => formatShort(split)),
      },
    ],
    series,
    cursor: { drag: { x: false, y: false }, points: { size: 8 } },
    legend: { live: true },
  };
  holder.replaceChildren();
  new uPlot(options, [[...x.values], ...lines.map(({ values }: Line) => [...values])], holder);
}

function formatValue(value: number | null | undefined): string {
  return value === null || value === undefined ? '' : value.toLocaleString('en-US', { maximumSignificantDigits: 4 });
}

/** Returns the range of the points with a margin on both sides. */
function paddedRange(low: number, high: number): [number, number] {
  const room = (high - low) * 0.03 || 1;
  return [low - room, high + room];
}

/** Returns the points that have enough space for their labels. */
function separatedTicks(values: readonly number[]): number[] {
  const kept: number[] = [];
  for (const value of values) if (kept.length === 0 || value / kept.at(-1)! >= labelDistanceFactor) kept.push(value);
  return kept;
}
