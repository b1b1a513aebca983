/** Content of a plot. The page determines its appearance. */
export type Plot = BarPlot | LinePlot;

/** One bar per figure, from zero or, on a logarithmic scale, from a power of ten. */
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
  /** 0 to 3: bars of the same meaning have the same style. */
  readonly style: number;
  readonly value: number;
  readonly low: number;
  readonly high: number;
  /** Target value. */
  readonly target: number | null;
  /** Text of the value. */
  readonly text: string;
}

/** Lines with a common x axis. */
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
  /** `guide` is the reference line; numbers distinguish the others. */
  readonly style: 'guide' | 0 | 1 | 2 | 3;
  /** One value per x value; null leaves a gap. */
  readonly values: readonly (number | null)[];
}

/** Text of a cell, and whether it is good or bad. */
export type Cell = string | { readonly text: string; readonly mark: 'good' | 'bad' };

/** A table, and plots of the same figures. */
export interface ReportTable {
  readonly caption: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
  readonly plots: readonly Plot[];
}

/** A section of the report, independent of Markdown and HTML. Backticks mark code. */
export interface ReportSection {
  readonly id: string;
  readonly title: string;
  readonly text: readonly string[];
  readonly tables: readonly ReportTable[];
  /** Blocks that only Markdown has. */
  readonly markdownOnly?: readonly string[];
}

export function cellText(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.text;
}

/** Removes columns without values. */
export function removeEmptyColumns(table: ReportTable): ReportTable {
  const told = table.head.map((_, at) => table.rows.some((row) => cellText(row[at]!) !== '-'));
  const keep = <Value>(values: readonly Value[]) => values.filter((_, at) => told[at]);
  return { ...table, head: keep(table.head), rows: table.rows.map(keep) };
}
