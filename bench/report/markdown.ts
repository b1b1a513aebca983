import type { BenchResult } from '../result/bench-result.ts';
import { pluralize } from './formatting.ts';
import { cellText, type ReportSection } from './report-section.ts';
import { reportSections } from './sections/sections.ts';

/** Formats a Markdown table with columns padded to their widest cell, as the formatter of this project requires. */
function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, column) => Math.max(3, cell.length, ...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

/** Returns a paragraph about the machine, commit and scale of a run. */
function describeConditions({ startedAt, commit, machine, scale, quick }: BenchResult): string {
  const { cpu, cores, memoryGiB, system, node, disk, loadAverage } = machine;
  const measured = commit === null ? '' : `, commit ${commit}`;
  return (
    `${startedAt.slice(0, 10)}${measured}, ${cpu}, ${cores} cores, ${memoryGiB} GiB, ${system}, Node.js ${node}, data on ${disk}, ` +
    `load average ${loadAverage.toFixed(1)} before the run. ${scale.connections} connections, ${pluralize(scale.rounds, 'round')} of about ` +
    `${scale.seconds} s${quick ? ' (quick run: indicative only)' : ''}.`
  );
}

/** Formats a result as the Markdown of `bench/README.md`. */
export function toMarkdown(result: BenchResult): string {
  return `${[describeConditions(result), ...reportSections(result).flatMap(sectionBlocks)].join('\n\n')}\n`;
}

function sectionBlocks({ title, text, tables, markdownOnly }: ReportSection): string[] {
  return [
    `### ${title}`,
    ...text,
    ...tables.flatMap(({ caption, head, rows }) => [
      ...(tables.length > 1 ? [`**${escapeCell(caption)}**`] : []),
      markdownTable(
        head,
        rows.map((row) => row.map((cell) => escapeCell(cellText(cell)))),
      ),
    ]),
    ...(markdownOnly ?? []),
  ];
}

/** Escapes characters that end a table cell or start markup. */
function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
}
