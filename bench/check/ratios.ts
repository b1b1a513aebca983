import { calibrationName, type MicroResult } from '../micro/micro-benchmark.ts';
import { cpuRatios, throughputRatios } from '../report/ratios.ts';
import type { BenchResult, RouteResult } from '../result/bench-result.ts';

/** A ratio that depends on the code and not on the machine. */
export interface CheckedRatio {
  /** Name by which runs are compared. */
  readonly name: string;
  /** Part of the benchmarks. */
  readonly part: string;
  readonly better: 'higher' | 'lower';
  /** Positive number. */
  readonly value: number;
}

/** A ratio with the values of all runs. */
export interface RepeatedRatio extends Omit<CheckedRatio, 'value'> {
  readonly values: readonly number[];
}

/** Groups the ratios of all runs by name. A ratio that is missing in a run has fewer values. */
export function groupRuns(runs: readonly (readonly CheckedRatio[])[]): RepeatedRatio[] {
  return [...Map.groupBy(runs.flat(), ({ name }) => name).values()].map((same) => {
    const { value: _, ...figure } = same[0]!;
    return { ...figure, values: same.map(({ value }) => value) };
  });
}

/** Extracts the ratios that do not depend on the machine. */
export function ratiosOfResult({ routes, micro }: Pick<BenchResult, 'routes' | 'micro'>): CheckedRatio[] {
  return [...routes.flatMap(routeRatios), ...microRatios(micro)].filter(
    ({ value }) => Number.isFinite(value) && value > 0,
  );
}

/** The name contains the client, because ratios of different clients are not comparable. */
function routeRatios(route: RouteResult): CheckedRatio[] {
  const { name, client } = route;
  const throughput = throughputRatios(route, 'bare');
  const cpu = cpuRatios(route, 'bare');
  const figure = (what: string, value: number): CheckedRatio => ({
    name: `${name}: ${what} (${client})`,
    part: name,
    better: 'higher',
    value,
  });
  return [
    ...(throughput === null ? [] : [figure('throughput over bare', throughput.median)]),
    ...(cpu === null ? [] : [figure('CPU of bare over that of the service', cpu.median)]),
  ];
}

/** Cost of one call in calibrations. Results that depend on a disk sync or on a single call are skipped. */
function microRatios(results: readonly MicroResult[]): CheckedRatio[] {
  const unit = results.find(({ name }) => name === calibrationName)?.medianNs;
  if (unit === undefined || !(unit > 0)) return [];
  return results
    .filter(({ name, worstNs }) => name !== calibrationName && worstNs === undefined && !name.endsWith(', synced'))
    .map(({ name, medianNs }) => ({
      name: `${name}: cost in calibrations`,
      part: 'micro',
      better: 'lower',
      value: medianNs / unit,
    }));
}
