import process from 'node:process';
import { styleText } from 'node:util';
import { isoTimestampOrNull } from '../domain/calendar.ts';

/** Results go to standard output, for people and programs alike; talk goes to standard error, so that it is never piped. */
export function printResult(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A result for programs. */
export function printJson(value: unknown): void {
  printResult(JSON.stringify(value, null, 2));
}

/** As `printResult`, for a part of a long result: resolves once it is written, and to false when nobody reads any more. */
export function printChunk(text: string): Promise<boolean> {
  return new Promise((resolve) => {
    process.stdout.write(`${text}\n`, (error) => resolve(!error));
  });
}

export function printNotice(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Rows under headings in aligned columns; the headings are bold where standard output is a terminal that has colours. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = headings.map((heading, column) =>
    [headings, ...rows].reduce((most, row) => Math.max(most, displayWidth(row[column] ?? heading)), 0),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - displayWidth(cell))))
      .join('  ')
      .trimEnd();
  return [styleText('bold', line(headings), { stream: process.stdout }), ...rows.map(line)].join('\n');
}

/** Names and their values, one a line. */
export function formatNameValues(rows: readonly (readonly [name: string, value: string])[], nameWidth: number): string {
  return rows.map(([name, value]) => `${name.padEnd(nameWidth)}${value}`).join('\n');
}

/** In code points: what is beyond the 65,536 commonest characters is two units of a string, but one on the screen. */
function displayWidth(text: string): number {
  let width = 0;
  for (const _ of text) width++;
  return width;
}

/** A wall time as people and programs read it, or `-`. */
export function formatTimestamp(ms: number | null): string {
  return isoTimestampOrNull(ms) ?? '-';
}
