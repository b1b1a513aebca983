import { copyFile, mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BenchResult, benchResultFormat } from './bench-result.ts';

/** The file of one run, named after its start. It is written again after each part, so that a run that fails late was not for nothing. */
export class ResultFile {
  readonly path: string;
  readonly #folder: string;

  private constructor(folder: string, path: string) {
    this.#folder = folder;
    this.path = path;
  }

  /** Makes the folder where there is none. */
  static async create(folder: string, startedAt: string): Promise<ResultFile> {
    await mkdir(folder, { recursive: true });
    return new ResultFile(folder, join(folder, `${startedAt.replaceAll(':', '-')}.json`));
  }

  /** Replaces the file whole: whoever reads it meanwhile sees the one before. */
  async write(result: BenchResult): Promise<void> {
    const draft = `${this.path}.part`;
    await writeFile(draft, `${JSON.stringify(result, null, 2)}\n`);
    await rename(draft, this.path);
  }

  /**
   * Makes it the one that the planner reads unless told otherwise. Only a run of all parts that came to its end is: the planner needs
   * them all.
   */
  async publishAsLatest(): Promise<string> {
    const latest = join(this.#folder, 'latest.json');
    const draft = `${latest}.part`;
    await copyFile(this.path, draft);
    await rename(draft, latest);
    return latest;
  }
}

/** A result from the text of its file. Throws a one-line error when it is not one of this format. */
export function parseResult(text: string): BenchResult {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('this is not a result of the benchmarks: it is no JSON');
  }
  const format = typeof value === 'object' && value !== null && 'format' in value ? value.format : undefined;
  if (format !== benchResultFormat) {
    throw new Error(`this is not a result of these benchmarks (format ${benchResultFormat}): measure again`);
  }
  return value as BenchResult;
}
