import { escapeHtml, formatShort } from '../formatting.ts';
import type { Bar, BarPlot } from '../report-section.ts';

interface BarScale {
  /** Returns the position of a value on the scale in percent. */
  percent(value: number): number;
  readonly ticks: readonly number[];
}

const rowHeight = 20;
const barHeight = 12;

/**
 * Renders bars as HTML and SVG without scripts and style attributes. The bars are hidden from screen readers, because the table
 * below contains the same figures.
 */
export function barsHtml(plot: BarPlot): string {
  const all = plot.groups.flatMap(({ bars }) => bars);
  if (all.length === 0) return '';
  const scale = plot.logarithmic ? logarithmicScale(all) : linearScale(all, plot.reference);
  const rows = plot.groups.flatMap(({ label, bars }) => [
    ...(bars.length > 1 ? [`<div class="bar-group">${escapeHtml(label)}</div>`] : []),
    ...bars.map((bar) => rowHtml(bars.length > 1 ? bar.label : label, bar, scale, plot)),
  ]);
  const single = plot.groups.every(({ bars }) => bars.length < 2) ? ' single' : '';
  return (
    `<div class="bars${single}" aria-hidden="true">${rows.join('')}<div class="bar-row bar-axis"><span></span>` +
    `<svg height="${rowHeight}" width="100%">${scale.ticks.map((tick) => tickText(tick, scale, plot.unit)).join('')}</svg><span></span></div></div>`
  );
}

function rowHtml(label: string, bar: Bar, scale: BarScale, { reference }: BarPlot): string {
  const at = (value: number) => `${scale.percent(value).toFixed(2)}%`;
  const middle = rowHeight / 2;
  const top = middle - barHeight / 2;
  const vertical = (value: number, kind: string, from = 0, to = rowHeight) =>
    `<line class="${kind}" x1="${at(value)}" x2="${at(value)}" y1="${from}" y2="${to}"/>`;
  const parts = [
    ...scale.ticks.map((tick) => vertical(tick, 'grid')),
    `<rect class="bar-${bar.style}" x="0" width="${at(bar.value)}" y="${top}" height="${barHeight}" rx="1.5"/>`,
    ...(bar.high > bar.low
      ? [
          `<line class="whisker" x1="${at(bar.low)}" x2="${at(bar.high)}" y1="${middle}" y2="${middle}"/>`,
          vertical(bar.high, 'whisker', middle - 3, middle + 3),
          ...(bar.low < bar.value ? [vertical(bar.low, 'whisker', middle - 3, middle + 3)] : []),
        ]
      : []),
    ...(reference === null ? [] : [vertical(reference, 'reference')]),
    ...(bar.target === null ? [] : [vertical(bar.target, 'target', 1, rowHeight - 1)]),
  ];
  const news = bar.target === null ? '' : bar.value >= bar.target ? ' good' : ' bad';
  return (
    `<div class="bar-row"><span class="bar-label">${escapeHtml(label)}</span>` +
    `<svg height="${rowHeight}" width="100%">${parts.join('')}</svg><span class="bar-value${news}">${escapeHtml(bar.text)}</span></div>`
  );
}

function tickText(tick: number, scale: BarScale, unit: string): string {
  const place = scale.percent(tick);
  const anchor = place < 2 ? 'start' : place > 98 ? 'end' : 'middle';
  const text = unit === 'ns' ? formatDuration(tick) : formatShort(tick);
  return `<text x="${place.toFixed(2)}%" y="14" text-anchor="${anchor}">${escapeHtml(text)}</text>`;
}

function formatDuration(ns: number): string {
  if (ns >= 1e9) return `${formatShort(ns / 1e9)} s`;
  if (ns >= 1e6) return `${formatShort(ns / 1e6)} ms`;
  return ns >= 1e3 ? `${formatShort(ns / 1e3)} us` : `${formatShort(ns)} ns`;
}

function linearScale(bars: readonly Bar[], reference: number | null): BarScale {
  const most = Math.max(reference ?? 0, ...bars.map(({ high, target }) => Math.max(high, target ?? 0))) || 1;
  const power = 10 ** Math.floor(Math.log10(most / 4));
  const step = ([1, 2, 2.5, 5].find((each) => each * power * 5 >= most) ?? 10) * power;
  const end = Math.max(Math.ceil(most / step - 1e-9) * step, most * 1.02);
  const ticks = Array.from({ length: Math.floor(end / step + 1e-9) + 1 }, (_, at) =>
    Number((at * step).toPrecision(6)),
  );
  return { percent: (value) => (100 * value) / end, ticks };
}

function logarithmicScale(bars: readonly Bar[]): BarScale {
  const low = Math.ceil(Math.log10(Math.min(...bars.map(({ value }) => value)))) - 1;
  const high = Math.ceil(Math.log10(Math.max(...bars.map((bar) => bar.high))));
  const ticks = Array.from({ length: high - low + 1 }, (_, at) => 10 ** (low + at));
  return { percent: (value) => (100 * (Math.log10(value) - low)) / (high - low), ticks };
}
