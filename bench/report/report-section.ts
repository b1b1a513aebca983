/** Content of a plot. The HTML page determines the appearance. */
export type Plot = BarPlot | LinePlot;

/** Bar plot with one bar per figure. Bars start at zero or, on a logarithmic scale, at a power of ten. */
export interface BarPlot {
  readonly kind: 'bars';
  readonly title: string;
  readonly logarithmic: boolean;
  /** Value with a reference line, such as 1 for ratios. */
  readonly reference: number | null;
  readonly unit: string;
  readonly groups: readonly BarGroup[];
}

export interface BarGroup {
  readonly label: string;
  readonly bars: readonly Bar[];
}

export interface Bar {
  /** Name of a bar in a group; empty if each group has one bar. */
  readonly label: string;
  /** Style number from 0 to 3. Bars with the same meaning have the same style. */
  readonly style: number;
  readonly value: number;
  readonly low: number;
  readonly high: number;
  /** Target for the value; null without a target. */
  readonly target: number | null;
  /** Formatted value. */
  readonly text: string;
}

/** Line plot whose lines have a common x axis. */
export interface LinePlot {
  readonly kind: 'lines';
  readonly title: string;
  readonly x: Axis & { readonly values: readonly number[] };
  readonly y: Axis;
  readonly lines: readonly Line[];
}

interface Axis {
  readonly label: string;
  readonly logarithmic: boolean;
}

export interface Line {
  readonly label: string;
  /** Style of the line: `guide` for a reference line, a number for other lines. */
  readonly style: 'guide' | 0 | 1 | 2 | 3;
  /** Values of the line, one per x value; null leaves a gap. */
  readonly values: readonly (number | null)[];
}

/** Table cell: its text, and optionally a mark for a good or bad value. */
export type Cell = string | { readonly text: string; readonly mark: 'good' | 'bad' };

/** Table with plots of the same figures. */
export interface ReportTable {
  readonly caption: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  readonly plots: readonly Plot[];
}

/** Section of the report, independent of Markdown and HTML. Backticks in texts mark code. */
export interface ReportSection {
  readonly id: string;
  readonly title: string;
  readonly text: readonly string[];
  readonly tables: readonly ReportTable[];
  /** Blocks that only the Markdown report contains. */
  readonly markdownOnly?: readonly string[];
}

export function cellText(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text;
}

/** Removes table columns without values. */
export function removeEmptyColumns(table: ReportTable): ReportTable {
  const told = table.head.map((_, at) => table.rows.some((row) => cellText(row[at]!) !== '-'));
  const keep = <Value>(values: readonly Value[]) => values.filter((_, at) => told[at]);
  return { ...table, head: keep(table.head), rows: table.rows.map(keep) };
}
