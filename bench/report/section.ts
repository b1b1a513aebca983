import type { Plot } from './plot.ts';

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
