import process from 'node:process';
import { styleText } from 'node:util';
import { isoTimestampOrNull } from '../domain/calendar.ts';

/** Prints a result on standard output. Notices are printed on standard error, so that they are not part of piped output. */
export function printResult(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function printJson(value: unknown): void {
  printResult(JSON.stringify(value, null, 2));
}

/** Prints a part of a long result. Resolves when it is written: to true, or to false if the reader has closed the pipe. */
export function printChunk(text: string): Promise<boolean> {
  return new Promise((resolve) => {
    process.stdout.write(`${text}\n`, (error) => resolve(!error));
  });
}

export function printNotice(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Formats rows under headings in aligned columns. Headings are bold if standard output is a terminal with colours. */
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

/** Formats names and values, one pair per line. */
export function formatNameValues(rows: readonly (readonly [name: string, value: string])[], nameWidth: number): string {
  return rows.map(([name, value]) => `${name.padEnd(nameWidth)}${value}`).join('\n');
}

/** Returns the width of a text in code points: an emoji is two UTF-16 units but one character on the screen. */
function displayWidth(text: string): number {
  let width = 0;
  for (const _ of text) width++;
  return width;
}

/** Formats a time as ISO 8601, or `-` for null. */
export function formatTimestamp(ms: number | null): string {
  return isoTimestampOrNull(ms) ?? '-';
}
