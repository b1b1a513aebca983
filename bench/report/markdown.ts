import type { BenchResult } from '../result/bench-result.ts';
import { conditions } from './conditions.ts';
import { type ReportSection, textOf } from './section.ts';
import { sectionsOf } from './sections/sections.ts';
import { table } from './table.ts';

/** A result as the Markdown that stands in `bench/README.md`. */
export function toMarkdown(result: BenchResult): string {
  return `${[conditions(result), ...sectionsOf(result).flatMap(blocks)].join('\n\n')}\n`;
}

function blocks({ title, text, tables, markdownOnly }: ReportSection): string[] {
  return [
    `### ${title}`,
    ...text,
    ...tables.flatMap(({ caption, head, rows }) => [
      ...(tables.length > 1 ? [`**${escaped(caption)}**`] : []),
      table(
        head,
        rows.map((row) => row.map((cell) => escaped(textOf(cell)))),
      ),
    ]),
    ...(markdownOnly ?? []),
  ];
}

/** What would end a cell or begin markup. */
function escaped(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ');
}
