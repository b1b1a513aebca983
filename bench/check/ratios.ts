import { calibrationBenchmarkName, type MicroBenchmarkResult } from '../micro/micro-benchmark.ts';
import { cpuTimeRatios, throughputRatios } from '../report/ratios.ts';
import type { BenchResult, RouteResult } from '../result/bench-result.ts';

/** Speed ratio: throughput or CPU time relative to the server `bare`, or time relative to the calibration benchmark. */
export interface ResultRatio {
  /** Name of the speed ratio, which is the same in all benchmark runs. */
  readonly name: string;
  /** Name of the benchmark part that measures the speed ratio. */
  readonly part: string;
  readonly better: 'higher' | 'lower';
  /** Value of the speed ratio, a positive number. */
  readonly value: number;
}

/** Values of one speed ratio in several benchmark runs. */
export interface ResultRatioSeries extends Omit<ResultRatio, 'value'> {
  readonly values: readonly number[];
}

/** Groups the speed ratios of several benchmark runs by name. */
export function groupRatiosByName(runs: readonly (readonly ResultRatio[])[]): ResultRatioSeries[] {
  return [...Map.groupBy(runs.flat(), ({ name }) => name).values()].map((same) => {
    const { value: _, ...figure } = same[0]!;
    return { ...figure, values: same.map(({ value }) => value) };
  });
}

/** Returns the speed ratios of a benchmark run. Speed ratios vary less from machine to machine than absolute times do. */
export function computeResultRatios({ routes, micro }: Pick<BenchResult, 'routes' | 'micro'>): ResultRatio[] {
  return [...routes.flatMap(routeRatios), ...microRatios(micro)].filter(
    ({ value }) => Number.isFinite(value) && value > 0,
  );
}

/**
 * Returns the speed ratios of one route. The name of a speed ratio contains the name of the load client, because measurements with
 * different load clients are not comparable.
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
