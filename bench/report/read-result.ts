import { type BenchResult, benchResultFormat } from '../result/bench-result.ts';

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
