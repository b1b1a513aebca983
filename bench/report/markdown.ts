import type { BenchResult } from '../result/bench-result.ts';
import { describeConditions } from './conditions.ts';
import { type ReportSection, cellText } from './section.ts';
import { reportSections } from './sections/sections.ts';
import { markdownTable } from './table.ts';

/** A result as the Markdown that stands in `bench/README.md`. */
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

/** What would end a cell or begin markup. */
function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
}
