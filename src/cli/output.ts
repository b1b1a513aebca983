import process from 'node:process';
import { styleText } from 'node:util';
import { formatIsoTimestampOrNull } from '../domain/calendar.ts';

/** Prints a result on standard output. Notices must be printed with `printNotice`, so that piped output contains only results. */
export function printResult(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function printJson(value: unknown): void {
  printResult(JSON.stringify(value, null, 2));
}

/** Prints a part of a long result on standard output. Resolves to true after the write, or to false if the reader has closed the pipe. */
export function printChunk(text: string): Promise<boolean> {
  return new Promise((resolve) => {
    process.stdout.write(`${text}\n`, (error) => resolve(!error));
  });
}

export function printNotice(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Formats rows as a table with aligned columns. Column headings are bold if standard output is a terminal that supports colors. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = headings.map((heading, column) =>
    [headings, ...rows].reduce((width, row) => Math.max(width, displayWidth(row[column] ?? heading)), 0),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - displayWidth(cell))))
      .join('  ')
      .trimEnd();
  return [styleText('bold', line(headings), { stream: process.stdout }), ...rows.map(line)].join('\n');
}

/** Column of a table: its heading, a function that returns the cell of a row, and the width of the cells if it is fixed. */
export type Column<Row> = readonly [heading: string, cell: (row: Row) => string | number, width?: number];

export function formatRows<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const headings = columns.map(([heading]) => heading);
  return formatTable(headings, toCells(columns, rows));
}

/** Formats rows in columns of fixed width, so that the columns of several texts are aligned. */
export function formatFixedRows<Row>(columns: readonly Column<Row>[], rows: readonly Row[], withHeadings: boolean) {
  const headings = withHeadings ? [columns.map(([heading]) => heading)] : [];
  const pad = (cell: string, column: number): string => cell.padEnd(columns[column]?.[2] ?? 0);
  return [...headings, ...toCells(columns, rows)].map((cells) => cells.map(pad).join('  ').trimEnd()).join('\n');
}

function toCells<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string[][] {
  return rows.map((row) => columns.map(([, cell]) => String(cell(row))));
}

export function formatNameValuePairs(
  rows: readonly (readonly [name: string, value: string])[],
  nameWidth: number,
): string {
  return rows.map(([name, value]) => `${name.padEnd(nameWidth)}${value}`).join('\n');
}

/** Returns the number of code points in a text as its display width; `text.length` would count an emoji twice. */
function displayWidth(text: string): number {
  return [...text].length;
}

/** Formats Unix milliseconds as an ISO 8601 timestamp, and null as `-`. */
export function formatTimestamp(ms: number | null): string {
  return formatIsoTimestampOrNull(ms) ?? '-';
}
