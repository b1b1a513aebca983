/** What is drawn; how, is the page's business. */
export type Plot = BarPlot | LinePlot;

/** A bar for each figure, from zero or, with a logarithmic scale, from the first power of ten below all of them. */
export interface BarPlot {
  readonly kind: 'bars';
  readonly title: string;
  readonly logarithmic: boolean;
  /** A value with a line of its own right across, e.g. 1 for ratios. */
  readonly reference: number | null;
  readonly unit: string;
  readonly groups: readonly BarGroup[];
}

export interface BarGroup {
  readonly label: string;
  readonly bars: readonly Bar[];
}

export interface Bar {
  /** Which of several bars of a group; empty where each group has only one. */
  readonly label: string;
  /** 0 to 3: bars of the same meaning look the same in all groups. */
  readonly style: number;
  readonly value: number;
  readonly low: number;
  readonly high: number;
  /** What the value should reach. */
  readonly target: number | null;
  /** The value as a text. */
  readonly text: string;
}

/** Lines over a common x axis. */
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
  /** `guide` is what the others are compared with; the numbers tell the others apart. */
  readonly style: 'guide' | 0 | 1 | 2 | 3;
  /** As many as there are x values; null leaves a gap. */
  readonly values: readonly (number | null)[];
}

/** Text of a cell, and whether it is good or bad news. */
export type Cell = string | { readonly text: string; readonly mark: 'good' | 'bad' };

/** A table of figures, and the plots of the same figures that stand above it where there can be plots. */
export interface ReportTable {
  readonly caption: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  readonly plots: readonly Plot[];
}

/** One chapter of the report, before it is known whether it becomes Markdown or HTML. Backticks in texts mark code. */
export interface ReportSection {
  readonly id: string;
  readonly title: string;
  readonly text: readonly string[];
  readonly tables: readonly ReportTable[];
  /** Blocks at the end that only Markdown has. */
  readonly markdownOnly?: readonly string[];
}

export function cellText(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text;
}

/** Leaves out the columns in which no row has anything to say. */
export function removeEmptyColumns(table: ReportTable): ReportTable {
  const told = table.head.map((_, at) => table.rows.some((row) => cellText(row[at]!) !== '-'));
  const keep = <Value>(values: readonly Value[]) => values.filter((_, at) => told[at]);
  return { ...table, head: keep(table.head), rows: table.rows.map(keep) };
}
