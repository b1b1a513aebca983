import type { BenchResult } from '../result/bench-result.ts';
import type { MeasurementSummary } from '../statistics.ts';
import { createReportSections } from './sections.ts';

/** Table of the report. A dash stands for an unknown value. Columns that contain only dashes are omitted. */
export interface ReportTable {
  readonly caption?: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface ReportSection {
  readonly title: string;
  readonly text: readonly string[];
  readonly tables: readonly ReportTable[];
}

/** Formats a number with thousands separators and a fixed number of decimals. */
export function formatNumber(value: number | null, decimals = 0): string {
  if (value === null) return '-';
  return value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

export function formatSummary({ median, lowest, highest }: MeasurementSummary, decimals: number): string {
  return `${formatNumber(median, decimals)} (${formatNumber(lowest, decimals)} to ${formatNumber(highest, decimals)})`;
}

export function joinWords(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

/** Formats a result as Markdown, for the terminal. */
export function toMarkdown(result: BenchResult): string {
  return `${[describeConditions(result), ...createReportSections(result).flatMap(formatSection)].join('\n\n')}\n`;
}

/** Returns a paragraph about the machine, commit and scale of a run. */
export function describeConditions({ startedAt, commit, machine, scale, quick }: BenchResult): string {
  const { cpu, cores, memoryGiB, system, node, disk, loadAverage } = machine;
  const measured = commit === null ? '' : `, commit ${commit}`;
  return (
    `${startedAt.slice(0, 10)}${measured}, ${cpu}, ${cores} cores, ${memoryGiB} GiB, ${system}, Node.js ${node}, data on ${disk}, ` +
    `load average ${loadAverage.toFixed(1)} before the run. ${scale.connections} connections, ` +
    `${scale.rounds} ${scale.rounds === 1 ? 'round' : 'rounds'} of about ${scale.seconds} s` +
    `${quick ? ' (quick run: indicative only)' : ''}.`
  );
}

export function formatSection({ title, text, tables }: ReportSection): string[] {
  const blocks = tables.flatMap((table) => [
    ...(table.caption === undefined ? [] : [`**${escapeCell(table.caption)}**`]),
    formatTable(table),
  ]);
  return [`### ${title}`, ...text, ...blocks];
}

/** Pads columns to their widest cell, as the formatter of this project requires. */
export function formatTable({ head, rows }: ReportTable): string {
  const hasValues = head.map((_, column) => rows.some((row) => row[column] !== '-'));
  const lines = [head, ...rows].map((row) => row.filter((_, column) => hasValues[column]).map(escapeCell));
  const widths = lines[0]!.map((_, column) => Math.max(3, ...lines.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`;
  return [line(lines[0]!), line(widths.map((width) => '-'.repeat(width))), ...lines.slice(1).map(line)].join('\n');
}

/** Returns the cells of the rows of a table that `formatTable` wrote, without its head. Returns no rows if the text has no table. */
export function parseTableRows(text: string): string[][] {
  const lines = text.split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(2).map((line) =>
    line
      .slice(2, -2)
      .split(' | ')
      .map((cell) => cell.trim()),
  );
}

/** Escapes characters that end a table cell or start markup. */
function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
}
