import process from 'node:process';
import { styleText } from 'node:util';

/** Results go to standard output, for people and programs alike; talk goes to standard error, so that it is never piped. */
export function printResult(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** As `printResult`, for a part of a long result: resolves once it is written, and to false when nobody reads any more. */
export function printPart(text: string): Promise<boolean> {
  return new Promise((resolve) => {
    process.stdout.write(`${text}\n`, (error) => resolve(!error));
  });
}

export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Rows under headings in aligned columns; the headings are bold where standard output is a terminal that has colours. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = headings.map((heading, column) =>
    Math.max(...[headings, ...rows].map((row) => (row[column] ?? heading).length)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [styleText('bold', line(headings), { stream: process.stdout }), ...rows.map(line)].join('\n');
}

/** A wall time as people and programs read it, or `-`. */
export function timestamp(ms: number | null): string {
  return ms === null ? '-' : new Date(ms).toISOString();
}
