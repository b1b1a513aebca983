import { readFile, writeFile } from 'node:fs/promises';
import type { BenchResult } from '../result/bench-result.ts';
import { describeConditions, formatSection, formatTable, parseTableRows, type ReportTable } from './markdown.ts';
import { drawLatencyPicture, drawStackPicture } from './pictures.ts';
import { createReportSections } from './sections.ts';
import { summarizeResult, summaryHead } from './summary.ts';

const file = (path: string) => new URL(`../../${path}`, import.meta.url);
const beginMark = '<!-- summary: written by `make bench` with --publish -->';
const endMark = '<!-- end of summary -->';

/**
 * Replaces the rows of the summary in `bench/README.md`. Rows that a run did not measure remain. Throws if the text does not contain both
 * markers.
 */
export function replaceSummary(text: string, summary: ReportTable): string {
  const from = text.indexOf(beginMark);
  const to = text.indexOf(endMark);
  if (from === -1 || to < from) throw new Error('bench/README.md has no markers for the summary');
  const start = from + beginMark.length;
  const rows = new Map([...parseTableRows(text.slice(start, to)), ...summary.rows].map((row) => [row[0]!, row]));
  const table = formatTable({ head: summaryHead, rows: [...rows.values()] });
  return `${text.slice(0, start)}\n\n${table}\n\n${text.slice(to)}`;
}

const sectionStart = '\n## ';

/** Replaces the sections of `bench/tables.md` that a run measured, by title. Other sections remain; new sections are added at the end. */
export function replaceSections(text: string, result: BenchResult): string {
  const [preface, ...old] = text.split(sectionStart) as [string, ...string[]];
  const sections = new Map(old.map((section) => [section.slice(0, section.indexOf('\n')), section.trimEnd()]));
  for (const section of createReportSections(result)) {
    const [, ...blocks] = formatSection(section);
    sections.set(section.title, [section.title, describeConditions(result), ...blocks].join('\n\n'));
  }
  return [preface.trimEnd(), ...sections.values()].join(`\n${sectionStart}`).concat('\n');
}

/** Writes the results to `bench/README.md`, `bench/tables.md` and the pictures. */
export async function publishResult(result: BenchResult): Promise<void> {
  await rewrite('bench/README.md', (text) => replaceSummary(text, summarizeResult(result)));
  await rewrite('bench/tables.md', (text) => replaceSections(text, result));
  if (result.stack.length > 0)
    await writeFile(file('docs/images/stack-comparison.svg'), drawStackPicture(result.stack));
  const curve = result.curves.find(({ name }) => name === 'offered-load');
  if (curve !== undefined) await writeFile(file('docs/images/latency-curve.svg'), drawLatencyPicture(curve.points));
}

async function rewrite(path: string, change: (text: string) => string): Promise<void> {
  await writeFile(file(path), change(await readFile(file(path), 'utf8')));
}
