import { copyFile, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BenchResult, benchResultFormat } from './bench-result.ts';

/** Result file of a run, named after its start. It is rewritten after each part, so that a run that fails late keeps its results. */
export class ResultFile {
  readonly path: string;
  readonly #folder: string;

  private constructor(folder: string, path: string) {
    this.#folder = folder;
    this.path = path;
  }

  /** Creates the folder if it is missing. */
  static async create(folder: string, startedAt: string): Promise<ResultFile> {
    await mkdir(folder, { recursive: true });
    return new ResultFile(folder, join(folder, `${startedAt.replaceAll(':', '-')}.json`));
  }

  /** Replaces the file atomically. */
  async write(result: BenchResult): Promise<void> {
    const draft = `${this.path}.part`;
    await writeFile(draft, `${JSON.stringify(result, null, 2)}\n`);
    await rename(draft, this.path);
  }

  /** Copies the result to the file that the planner reads by default. Only for complete runs, because the planner needs all parts. */
  async publishAsLatest(): Promise<string> {
    const latest = join(this.#folder, 'latest.json');
    const draft = `${latest}.part`;
    await copyFile(this.path, draft);
    await rename(draft, latest);
    return latest;
  }
}

/** Parses a result file. Throws a one-line error for an invalid format. */
export function parseResult(text: string): BenchResult {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('not a benchmark result: invalid JSON');
  }
  const format = typeof value === 'object' && value !== null && 'format' in value ? value.format : undefined;
  if (format !== benchResultFormat) {
    throw new Error(`benchmark result does not have format ${benchResultFormat}; run the benchmarks again`);
  }
  return value as BenchResult;
}
