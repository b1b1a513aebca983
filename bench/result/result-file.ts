import { rename, writeFile } from 'node:fs/promises';
import { type BenchResult, benchResultFormat } from './bench-result.ts';

/** Writes a result file atomically. */
export async function writeBenchResult(file: string, result: BenchResult): Promise<void> {
  const draft = `${file}.part`;
  await writeFile(draft, `${JSON.stringify(result, null, 2)}\n`);
  await rename(draft, file);
}

/** Parses a result file. Throws a one-line error for an invalid format. */
export function parseBenchResult(text: string): BenchResult {
  let value: Partial<BenchResult> | null;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('not a benchmark result: invalid JSON');
  }
  if (value?.format !== benchResultFormat) {
    throw new Error(`benchmark result does not have format ${benchResultFormat}; run the benchmarks again`);
  }
  return value as BenchResult;
}
