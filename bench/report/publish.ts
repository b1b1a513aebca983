import { readFile, writeFile } from 'node:fs/promises';
import { trimResult } from '../../src/capacity/read-figures.ts';
import type { BenchResult } from '../result/bench-result.ts';

const begin = '<!-- results: written by `make bench` with --publish -->';
const end = '<!-- end of results -->';

/** Replaces what stands between the two marks of a Markdown text. Throws when it has no marks. */
export function withResults(text: string, results: string): string {
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from === -1 || to < from) throw new Error('the README has no place marked for the results');
  return `${text.slice(0, from + begin.length)}\n${results}${text.slice(to)}`;
}

export async function publish(readme: string, results: string): Promise<void> {
  await writeFile(readme, withResults(await readFile(readme, 'utf8'), results));
}

/** Writes what the capacity planner plans with where nobody has run the benchmarks. */
export async function publishReference(file: string, result: BenchResult): Promise<void> {
  await writeFile(file, `${trimResult(JSON.stringify(result))}\n`);
}
