import { readFile, writeFile } from 'node:fs/promises';
import { trimBenchmarkResult } from '../../src/capacity/read-figures.ts';
import type { BenchResult } from '../result/bench-result.ts';

const beginMark = '<!-- results: written by `make bench` with --publish -->';
const endMark = '<!-- end of results -->';

/** Replaces what stands between the two marks of a Markdown text. Throws when it has no marks. */
export function replaceResults(text: string, results: string): string {
  const from = text.indexOf(beginMark);
  const to = text.indexOf(endMark);
  if (from === -1 || to < from) throw new Error('the README has no place marked for the results');
  return `${text.slice(0, from + beginMark.length)}\n${results}${text.slice(to)}`;
}

export async function publishToReadme(readme: string, results: string): Promise<void> {
  await writeFile(readme, replaceResults(await readFile(readme, 'utf8'), results));
}

/** Writes what the capacity planner plans with where nobody has run the benchmarks. */
export async function publishReferenceResult(file: string, result: BenchResult): Promise<void> {
  await writeFile(file, `${trimBenchmarkResult(JSON.stringify(result))}\n`);
}
