import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { trimBenchmarkResult } from '../../src/capacity/benchmark-result.ts';
import type { BenchResult } from '../result/bench-result.ts';
import { renderPage } from './html/page.ts';
import { toMarkdown } from './markdown.ts';

const beginMark = '<!-- results: written by `make bench` with --publish -->';
const endMark = '<!-- end of results -->';

/** Replaces the text between two markers in Markdown. Throws if a marker is missing. */
export function replaceResults(text: string, results: string): string {
  const from = text.indexOf(beginMark);
  const to = text.indexOf(endMark);
  if (from === -1 || to < from) throw new Error('the README has no markers for the results');
  return `${text.slice(0, from + beginMark.length)}\n${results}${text.slice(to)}`;
}

export async function publishToReadme(readme: string, results: string): Promise<void> {
  await writeFile(readme, replaceResults(await readFile(readme, 'utf8'), results));
}

/** Writes the benchmark result that the capacity planner reads by default. */
export async function publishReferenceResult(file: string, result: BenchResult): Promise<void> {
  await writeFile(file, `${trimBenchmarkResult(JSON.stringify(result))}\n`);
}

interface WrittenReport {
  readonly markdown: string;
  readonly htmlFile: string;
}

/** Writes the HTML report of a result to a file named after the start of the run, and to `latest.html`. */
export async function writeReport(result: BenchResult, folder: string): Promise<WrittenReport> {
  const html = await renderPage(result);
  const htmlFile = join(folder, `${resultName(result)}.html`);
  await writeFile(htmlFile, html);
  await writeFile(join(folder, 'latest.html'), html);
  return { markdown: toMarkdown(result), htmlFile };
}

/** Returns the file name of a result: the start time without characters that some file systems reject. */
function resultName({ startedAt }: Pick<BenchResult, 'startedAt'>): string {
  return basename(startedAt.replaceAll(':', '-'));
}
