import { calibrationBenchmarkName, type MicroBenchmarkResult } from '../micro/micro-benchmark.ts';
import { cpuTimeRatios, throughputRatios } from '../report/ratios.ts';
import type { BenchResult, RouteResult } from '../result/bench-result.ts';

/** Ratio of two measurements. The ratio depends on the code, and much less on the machine. */
export interface ResultRatio {
  /** Name of the ratio, which is the same in all runs. */
  readonly name: string;
  /** Benchmark part that measures the ratio. */
  readonly part: string;
  readonly better: 'higher' | 'lower';
  /** Value of the ratio, a positive number. */
  readonly value: number;
}

/** Ratio with its values from several runs. */
export interface ResultRatioSeries extends Omit<ResultRatio, 'value'> {
  readonly values: readonly number[];
}

/** Groups the ratios of all runs by name. */
export function groupRatiosByName(runs: readonly (readonly ResultRatio[])[]): ResultRatioSeries[] {
  return [...Map.groupBy(runs.flat(), ({ name }) => name).values()].map((same) => {
    const { value: _, ...figure } = same[0]!;
    return { ...figure, values: same.map(({ value }) => value) };
  });
}

/** Returns the ratios of a run. Ratios vary less from machine to machine than absolute times do. */
export function computeResultRatios({ routes, micro }: Pick<BenchResult, 'routes' | 'micro'>): ResultRatio[] {
  return [...routes.flatMap(routeRatios), ...microRatios(micro)].filter(
    ({ value }) => Number.isFinite(value) && value > 0,
  );
}

/**
 * Returns the ratios of the routes. The name of a ratio contains the name of the load client, because ratios of different clients are not
 * comparable.
 */
function routeRatios(route: RouteResult): ResultRatio[] {
  const { name, client } = route;
  const throughput = throughputRatios(route, 'bare');
  const cpu = cpuTimeRatios(route, 'bare');
  const figure = (what: string, value: number): ResultRatio => ({
    name: `${name}: ${what} (${client})`,
    part: name,
    better: 'higher',
    value,
  });
  return [
    ...(throughput === null ? [] : [figure('throughput ratio to bare', throughput.median)]),
    ...(cpu === null ? [] : [figure('CPU ratio to bare', cpu.median)]),
  ];
}

/** Divides the time per call of each benchmark by the time of the calibration benchmark. */
function microRatios(results: readonly MicroBenchmarkResult[]): ResultRatio[] {
  const unit = results.find(({ name }) => name === calibrationBenchmarkName)?.medianNs;
  if (unit === undefined || !(unit > 0)) return [];
  return results
    .filter(({ name }) => name !== calibrationBenchmarkName)
    .map(({ name, medianNs }) => ({
      name: `${name}, relative to the calibration`,
      part: 'micro',
      better: 'lower',
      value: medianNs / unit,
    }));
}
